/* The waits of the job. See summary_waits.h. */
#include "summary/summary_waits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "base/scan.h"
#include "base/sized.h"
#include "metric/typed_rows.h"
#include "table/wait_words.h"

void summary_waits_want(struct metric_set *wanted)
{
	metric_set_add_kind(wanted, ROW_wait);
	metric_set_add_kind(wanted, ROW_run_end_wait);
}

static void copy_wait_text(char *ret_text, size_t size, const char *text)
{
	struct scan scan = scan_bytes(text, text_absent(text) ? 0 : strlen(text));

	scan_copy(&scan, ret_text, size);
}

static bool is_same_text(const char *stored, size_t size, const char *text)
{
	return strncmp(stored, text, size - 1) == 0;
}

/* Adds time to its row. The list stays sorted. */
static void add_to_list(struct summary_wait_list *waits, const struct summary_wait *more, bool by_program)
{
	struct summary_wait *wait = waits->list;

	while (wait < waits->list + waits->count &&
	       !(is_same_text(wait->class, sizeof wait->class, more->class) &&
		 is_same_text(wait->target, sizeof wait->target, more->target) &&
		 (!by_program || is_same_text(wait->program, sizeof wait->program, more->program))))
		wait++;
	if (wait == waits->list + SUMMARY_WAITS_MOST)
		return;
	if (wait == waits->list + waits->count) {
		waits->count++;
		*wait = *more;
	} else {
		wait->secs += more->secs;
		wait->looks = count_sum(wait->looks, more->looks);
	}
	for (; wait > waits->list && wait[-1].secs < wait->secs; wait--) {
		struct summary_wait shorter = wait[-1];

		wait[-1] = *wait;
		*wait = shorter;
	}
}

static void add_wait_row(struct summary_waits *waits, const char *class, const char *target,
			 const char *program, double secs, int64_t looks)
{
	struct summary_wait wait = {.secs = secs, .looks = count_absent(looks) ? 0 : looks};

	if (text_absent(class) || real_absent(secs))
		return;
	copy_wait_text(wait.class, sizeof wait.class, class);
	copy_wait_text(wait.target, sizeof wait.target, target);
	copy_wait_text(wait.program, sizeof wait.program, program);
	add_to_list(&waits->by_program, &wait, true);
}

void summary_waits_add(struct summary_waits *waits, const struct frame *frame)
{
	const struct run_end_wait_row *end = FIRST(frame, run_end_wait);

	/* The end has all of the samples, and those of samples that the recording lacks. */
	if (end) {
		waits->by_program.count = 0;
		waits->has_end = true;
	}
	for (; end; end = NEXT(end, run_end_wait))
		add_wait_row(waits, end->class, end->target, end->program, end->wait_secs, end->look_count);
	if (waits->has_end)
		return;
	for (const struct wait_row *row = FIRST(frame, wait); row; row = NEXT(row, wait))
		add_wait_row(waits, row->class, row->target, row->program, row->wait_secs, 1);
}

void summary_waits_finish(struct summary_waits *waits)
{
	waits->by_target.count = 0;
	for (size_t i = 0; i < waits->by_program.count; i++)
		add_to_list(&waits->by_target, &waits->by_program.list[i], false);
}

int summary_waits_get(const struct summary_waits *waits, double run_secs, size_t index,
		      struct rt_wait_use *ret_use)
{
	const struct summary_wait *wait = &waits->by_program.list[index];
	struct rt_wait_use use;

	if (index >= waits->by_program.count)
		return -ENOENT;
	use = (struct rt_wait_use){
		.size = sizeof use,
		.wait_class = wait->class,
		.target = *wait->target ? wait->target : NULL,
		.program = wait->program,
		.secs = wait->secs,
		.run_pct = run_secs > 0 ? 100 * wait->secs / run_secs : (double)NAN,
		.look_count = wait->looks,
	};
	return copy_sized(ret_use, &use, sizeof use, SIZE_UP_TO(struct rt_wait_use, look_count));
}

void summary_waits_json(struct buffer *out, const struct summary_waits *waits, double run_secs)
{
	struct json_writer json = JSON_WRITER(out);
	struct rt_wait_use use = {.size = sizeof use};

	json_open(&json, '[');
	for (size_t i = 0; summary_waits_get(waits, run_secs, i, &use) == 0; i++) {
		json_open(&json, '{');
		json_key(&json, "class");
		json_text(&json, use.wait_class);
		json_key(&json, "target");
		json_text(&json, use.target);
		json_key(&json, "program");
		json_text(&json, use.program);
		json_key(&json, "wait_secs");
		json_decimal(&json, use.secs, 3);
		json_key(&json, "run_pct");
		json_decimal(&json, use.run_pct, 2);
		json_key(&json, "look_count");
		json_count(&json, use.look_count);
		json_close(&json, '}');
	}
	json_close(&json, ']');
}

const char *summary_wait_words(const struct summary_wait *wait, char *text, size_t size)
{
	return wait_words(wait->class, wait->target, text, size);
}
