/* The expected end of a run, in words. See expected.h. */
#include "live/expected.h"

#include <stdio.h>

#include "base/buffer.h"

/* The quarters differ by more than this: a single number would promise too much. */
static const double SPREAD = 1.25;

/* "40 s", "12 min", "3.5 h": as exact as an expectation may be. */
static void add_rough_time(struct buffer *out, double secs)
{
	if (secs < 99.5)
		buffer_printf(out, "%.0f s", secs);
	else if (secs < 99.5 * 60)
		buffer_printf(out, "%.0f min", secs / 60);
	else if (secs < 48 * 3600)
		buffer_printf(out, "%.1f h", secs / 3600);
	else
		buffer_printf(out, "%.1f d", secs / 86400);
}

static size_t shorter_runs(const struct usual_time *usual, double elapsed_secs)
{
	size_t count = 0;

	while (count < usual->count && usual->secs[count] < elapsed_secs)
		count++;
	return count;
}

bool is_overdue(const struct usual_time *usual, double elapsed_secs)
{
	return usual->count && shorter_runs(usual, elapsed_secs) * 10 >= usual->count * 9;
}

const char *expected_text(const struct usual_time *usual, double elapsed_secs, bool goes_on,
			  char ret_text[static EXPECTED_BYTES])
{
	struct buffer text = BUFFER(EXPECTED_BYTES);
	size_t count = usual->count, shorter = shorter_runs(usual, elapsed_secs), longer = count - shorter;

	ret_text[0] = '\0';
	if (!count)
		return ret_text;
	buffer_add_text(&text, "usually ");
	if (usual->secs[count * 3 / 4] > SPREAD * usual->secs[count / 4]) {
		add_rough_time(&text, usual->secs[count / 4]);
		buffer_add_text(&text, " to ");
		add_rough_time(&text, usual->secs[count * 3 / 4]);
	} else {
		add_rough_time(&text, usual->secs[count / 2]);
	}
	/* Runs that were over by now say nothing about what is left. */
	if (goes_on && longer) {
		buffer_add_text(&text, ", about ");
		add_rough_time(&text, usual->secs[shorter + (longer - 1) / 2] - elapsed_secs);
		buffer_add_text(&text, " left");
	}
	if (shorter == count)
		buffer_printf(&text, "; slower than all %zu runs", count);
	else if (shorter * 4 >= count * 3)
		buffer_printf(&text, "; slower than %zu of %zu runs", shorter, count);
	snprintf(ret_text, EXPECTED_BYTES, "%s", text.data ? text.data : "");
	buffer_done(&text);
	return ret_text;
}
