/* The waits of the job. See summary_waits.h. */
#include "summary/summary_waits.h"

#include <stdio.h>
#include <string.h>

#include "metric/typed_rows.h"

/* "": the target says all. */
static const struct {
	const char *class, *words;
} CLASSES[] = {
	{"sleep", "a timer (sleep)"},
	{"child", "a child process"},
	{"pipe", "a pipe"},
	{"file_lock", "the lock of a file"},
	{"lock", "a lock"},
	{"thread", "another of its threads"},
	{"socket", ""},
	{"terminal", "input at the terminal"},
	{"events", "events"},
	{"storage", "storage"},
	{"memory", "memory"},
	{"jobserver", "a free job slot of make"},
	{"stopped", "a signal to go on, because it was stopped"},
	{"other", "something that no look could name"},
};

void summary_waits_want(struct metric_set *wanted)
{
	metric_set_add_kind(wanted, ROW_run_end_wait);
}

static const char *text_or_empty(const char *text)
{
	return text_absent(text) ? "" : text;
}

static struct summary_wait *place_of_wait(struct summary_waits *waits, const struct run_end_wait_row *row)
{
	const char *target = text_or_empty(row->target);
	struct summary_wait *wait;

	for (size_t i = 0; i < waits->count; i++)
		if (strcmp(waits->list[i].class, row->class) == 0 &&
		    strcmp(waits->list[i].target, target) == 0)
			return &waits->list[i];
	if (waits->count == SUMMARY_WAITS_MOST)
		return NULL;
	wait = &waits->list[waits->count++];
	*wait = (struct summary_wait){0};
	snprintf(wait->class, sizeof wait->class, "%s", row->class);
	snprintf(wait->target, sizeof wait->target, "%s", target);
	snprintf(wait->program, sizeof wait->program, "%s", text_or_empty(row->program));
	return wait;
}

void summary_waits_add(struct summary_waits *waits, const struct frame *frame)
{
	for (const struct run_end_wait_row *row = FIRST(frame, run_end_wait); row;
	     row = NEXT(row, run_end_wait)) {
		struct summary_wait *wait;

		if (text_absent(row->class) || real_absent(row->wait_secs))
			continue;
		wait = place_of_wait(waits, row);
		if (!wait)
			continue;
		wait->secs += row->wait_secs;
		wait->looks += count_absent(row->look_count) ? 0 : row->look_count;
		/* One that several programs add to may have become longer than those before it. */
		for (; wait > waits->list && wait[-1].secs < wait->secs; wait--) {
			struct summary_wait shorter = wait[-1];

			wait[-1] = *wait;
			*wait = shorter;
		}
	}
}

const char *summary_wait_words(const struct summary_wait *wait, char *text, size_t size)
{
	const char *words = wait->class;

	for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
		if (strcmp(CLASSES[i].class, wait->class) == 0)
			words = CLASSES[i].words;
	if (!*words)
		snprintf(text, size, "%s", *wait->target ? wait->target : "a socket");
	else
		snprintf(text, size, "%s%s%s", words, *wait->target ? ": " : "", wait->target);
	return text;
}
