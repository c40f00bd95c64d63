/* The cost of recording: getrusage(2) and /proc/self/statm of the tracker. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/self_usage.h"
#include "kernel/proc_pid_statm.h"
#include "metric/typed_rows.h"

struct self_usage {
	int statm_fd; /* of the live system, even if another tree is read */
	int64_t page_bytes;
};

static int self_usage_open(struct collect_context *context, void **ret_state)
{
	struct self_usage *state = malloc(sizeof *state);

	if (!state)
		return -ENOMEM;
	*state = (struct self_usage){
		.statm_fd =
			context->root->live ? root_open_file(context->root, "proc/self/statm", 0) : -ENOENT,
		.page_bytes = context->root->page_bytes,
	};
	*ret_state = state;
	return 0;
}

static double own_cpu_secs(const struct collect_context *context)
{
	struct timespec time;

	if (context->in_program)
		return ns_to_secs(own_cost_cpu_ns(context->own_cost));

	/* In nanoseconds. getrusage(2) counts whole ticks for a process that sleeps much. */
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) < 0)
		return no_real(errno);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double own_rss_mib(const struct self_usage *state, struct root *root)
{
	ssize_t length = state->statm_fd < 0 ? state->statm_fd : root_pread(root, state->statm_fd);
	struct proc_pid_statm statm;

	if (length < 0)
		return no_real((int)length);
	if (parse_proc_pid_statm(root->text.data, (size_t)length, &statm) < 0)
		return no_real(EBADMSG);
	return (double)(statm.resident_pages * state->page_bytes) / 1048576;
}

void self_usage_begin(const struct collect_context *context, struct frame *frame)
{
	struct tracker_row *row = (struct tracker_row *)(void *)frame->first[ROW_tracker];

	if (row)
		row->cpu_total_secs = own_cpu_secs(context);
}

static void self_usage_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	const struct self_usage *state = state_;
	struct tracker_row *row = SINGLE_ROW(frame, tracker);

	row->cpu_total_secs = own_cpu_secs(context) + ns_to_secs(context->helper_cpu_ns);
	if (context->progress.baseline && context->own_process)
		row->cpu_total_secs = 0;
	row->rss_mib = context->in_program ? no_real(ABSENT_IN_PROGRAM) : own_rss_mib(state, context->root);
	row->dropped_samples = context->progress.dropped;
	row->helpers = context->helper_count;
	row->sample_ms = (double)(root_monotonic_ns(context->root) - frame->monotonic_ns) / 1e6;
}

static void self_usage_close(void *state_)
{
	struct self_usage *state = state_;

	if (state->statm_fd >= 0)
		close(state->statm_fd);
	free(state);
}

const struct collector SELF_USAGE_COLLECTOR = {
	.name = "self_usage",
	.open = self_usage_open,
	.collect = self_usage_collect,
	.close = self_usage_close,
	.fills = (const enum row_kind[]){ROW_tracker, ROW_KINDS},
};
