/* The waits of the job: a row of the sample that sees one, and rows of the end of the run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "job/waits/job_waits.h"
#include "metric/typed_rows.h"

static int job_waiting_open(struct collect_context *context, void **ret_state)
{
	struct job_waits *waits = calloc(1, sizeof *waits);

	if (!waits)
		return -ENOMEM;
	waits->wants_detail = context->wait_details;
	*ret_state = waits;
	return 0;
}

static void job_waiting_close(void *state)
{
	job_waits_done(state);
	free(state);
}

static const char *text_or_none(struct frame *frame, const char *text)
{
	return *text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_GIVEN);
}

static const char *program_or_others(struct frame *frame, const struct counted_wait *wait)
{
	return *wait->program ? text_or_none(frame, wait->program) : "others";
}

static void add_wait_rows(const struct job_waits *waits, struct frame *frame)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct counted_wait *from = &waits->rows[i];
		struct run_end_wait_row *row = ADD_ROW(frame, run_end_wait, frame->first[ROW_run_end]);

		row->class = wait_class_name(from->wait.class);
		row->target = text_or_none(frame, from->wait.target);
		row->detail = text_or_none(frame, from->detail ? from->detail : "");
		row->program = program_or_others(frame, from);
		row->wait_secs = ns_to_secs(from->ns);
		row->wait_pct = 100 * (double)from->ns / (double)waits->idle_ns;
		row->look_count = from->looks;
	}
}

static void add_wait_of_sample(const struct job_waits *waits, struct frame *frame)
{
	const struct counted_wait *from = &waits->rows[waits->last];
	struct wait_row *row = ADD_ROW(frame, wait, NULL);

	row->class = wait_class_name(from->wait.class);
	row->target = text_or_none(frame, from->wait.target);
	row->detail = text_or_none(frame, from->detail ? from->detail : "");
	row->program = program_or_others(frame, from);
	row->wait_secs = ns_to_secs(waits->found_ns);
}

static void job_waiting_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct job_waits *waits = state_;
	const struct run_ending *ending = context->ending;
	int64_t ended_ns = 0;

	if (!context->tree || !context->wait_rows) {
		int reason = context->tree ? ABSENT_NOT_WANTED : ABSENT_NOT_TRACKED;

		frame_set_missing(frame, ROW_wait, reason);
		frame_set_missing(frame, ROW_run_end_wait, reason);
		return;
	}
	if (ending->reason)
		ended_ns = ending->job_ended_ns ? ending->job_ended_ns : context->tree->pass_ns;
	job_waits_look(waits, context->tree, collect_began_ns(context), ended_ns);
	if (waits->found_ns)
		add_wait_of_sample(waits, frame);
	if (!frame->first[ROW_run_end])
		return;
	job_waits_finish(waits, (size_t)context->wait_rows);
	if (waits->count)
		add_wait_rows(waits, frame);
	else if (waits->error)
		frame_set_missing(frame, ROW_run_end_wait, waits->error);
}

const struct collector JOB_WAITING_COLLECTOR = {
	.name = "job_waiting",
	.open = job_waiting_open,
	.collect = job_waiting_collect,
	.close = job_waiting_close,
	.fills = (const enum row_kind[]){ROW_wait, ROW_run_end_wait, ROW_KINDS},
};
