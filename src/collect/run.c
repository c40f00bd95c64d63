/* The place of a sample in its run, what the run is (first sample) and how it ended (last sample). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/signal_names.h"
#include "kernel/os_release.h"
#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_meminfo.h"
#include "kernel/proc_sys_kernel.h"
#include "kernel/sys_dmi.h"

enum { SCHEMA_VERSION = 1 };

struct run {
	int64_t missed_total;
	double peak_mib; /* of the sampled tree; absent: never known */
	const char *peak_source;
	double peak_elapsed_secs;
};

static int run_open(struct collect_context *context, void **ret_state)
{
	struct run *state = malloc(sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	*state = (struct run){
		.peak_mib = no_real(ABSENT_NOT_TRACKED),
		.peak_source = no_text(ABSENT_NOT_TRACKED),
		.peak_elapsed_secs = no_real(ABSENT_NOT_TRACKED),
	};
	*ret_state = state;
	return 0;
}

static const char *given(struct frame *frame, const char *text)
{
	return text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_A_VALUE);
}

/* A text that a kernel reader leaves empty when there is none. */
static const char *found(struct frame *frame, const char *text)
{
	return *text ? frame_text(frame, text, strlen(text)) : no_text(ENOENT);
}

static void fill_sample(struct collect_context *context, struct frame *frame)
{
	const struct run_progress *progress = &context->progress;
	struct sample_row *row = frame->sample;

	row->timestamp_secs = frame->realtime_ns / NSEC_PER_SEC;
	row->timestamp = ns_to_secs(frame->realtime_ns / NSEC_PER_USEC * NSEC_PER_USEC);
	row->elapsed_secs = ns_to_secs(frame->monotonic_ns - progress->started_ns);
	row->actual_interval_ms = (double)(frame->monotonic_ns - progress->previous_ns) / 1e6;
	row->sample = progress->number;
	row->missed_ticks = progress->missed;
	row->host = given(frame, context->facts->host);
	row->rank = context->facts->rank < 0 ? no_count(ABSENT_NOT_A_VALUE) : context->facts->rank;
	row->job_name = given(frame, context->facts->job_name);
	row->tracked_pid = context->tree ? context->tree->root_pid : no_count(ABSENT_NOT_TRACKED);
}

static void fill_machine(struct collect_context *context, struct frame *frame, struct run_start_row *row)
{
	struct proc_sys_kernel kernel;
	struct proc_cpuinfo cpuinfo;
	struct os_release release;
	struct sys_dmi dmi;
	struct utsname names;

	if (read_proc_sys_kernel(context->root, &kernel) == 0) {
		row->kernel = found(frame, kernel.release);
		row->boot_id = found(frame, kernel.boot_id);
	}
	if (context->root->live && uname(&names) == 0)
		row->architecture = found(frame, names.machine);
	if (read_os_release(context->root, &release) == 0)
		row->os = found(frame, *release.pretty_name ? release.pretty_name : release.name);
	if (read_sys_dmi(context->root, &dmi) == 0)
		row->server = found(frame, dmi.product_name);
	if (read_proc_cpuinfo(context->root, &cpuinfo) == 0) {
		row->cpu_model = found(frame, cpuinfo.model);
		if (cpuinfo.cpu_count >= 0)
			row->cpu_count = cpuinfo.cpu_count;
	}
}

static void fill_pairs(struct frame *frame, enum row_kind kind, struct row *parent,
		       const struct name_value *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct row *row = frame_add(frame, kind, parent);

		*row_text(row, metric_offset(0)) = given(frame, pairs[i].name);
		*row_text(row, metric_offset(1)) = given(frame, pairs[i].value);
	}
}

static void fill_start(struct collect_context *context, struct frame *frame)
{
	const struct run_facts *facts = context->facts;
	struct run_start_row *row = ADD_ROW(frame, run_start, NULL);
	const struct memory_row *memory = (const struct memory_row *)(const void *)frame->first[ROW_memory];
	const struct limits_row *limits = (const struct limits_row *)(const void *)frame->first[ROW_limits];

	row->schema_version = SCHEMA_VERSION;
	fill_machine(context, frame, row);
	if (memory)
		row->memory_total_mib = memory->total_mib;
	if (limits) {
		row->cpu_limit_cores = limits->cpu_limit_cores;
		row->memory_limit_mib = limits->memory_limit_mib;
		row->cpuset_cores = limits->cpuset_cores;
	}
	row->project_name = given(frame, facts->project_name);
	row->stage_name = given(frame, facts->stage_name);
	row->task_name = given(frame, facts->task_name);
	row->team = given(frame, facts->team);
	row->env = given(frame, facts->env);
	row->language = given(frame, facts->language);
	row->orchestrator = given(frame, facts->orchestrator);
	row->executor = given(frame, facts->executor);
	row->external_run_id = given(frame, facts->external_run_id);
	row->container_image = given(frame, facts->container_image);
	row->executable = given(frame, facts->executable);
	if (facts->argc > 0)
		row->argument_count = facts->argc;
	row->command = given(frame, facts->command);
	row->mode = given(frame, facts->mode);
	row->interval_secs = facts->interval_seconds;
	row->children = facts->children;
	row->aligned = facts->aligned;
	row->cpu_source =
		context->tree ? process_tree_cpu_source(context->tree) : no_text(ABSENT_NOT_TRACKED);
	fill_pairs(frame, ROW_run_start_tag, &row->row, facts->tags, facts->tag_count);
	fill_pairs(frame, ROW_run_start_scheduler, &row->row, facts->scheduler, facts->scheduler_count);
}

/* The tree's peak is the largest of the simultaneous sums, never a sum of largest ones. */
static void follow_peak(struct run *state, const struct frame *frame)
{
	const struct tree_row *tree = (const struct tree_row *)(const void *)frame->first[ROW_tree];
	double now_mib;

	if (!tree)
		return;
	now_mib = tree->process_memory_mib;
	if (real_absent(now_mib)) {
		if (real_absent(state->peak_mib))
			state->peak_mib = now_mib;
		return;
	}
	if (!real_absent(state->peak_mib) && state->peak_mib >= now_mib)
		return;
	state->peak_mib = now_mib;
	state->peak_elapsed_secs = frame->sample->elapsed_secs;
	/* Constant texts of the usage collector: they outlive the frame. */
	state->peak_source = tree->process_memory_source;
}

static void fill_peaks(const struct run *state, const struct run_ending *ending, struct run_end_row *row)
{
	double largest_mib;

	row->memory_peak_mib = state->peak_mib;
	row->memory_peak_source = state->peak_source;
	row->memory_peak_elapsed_secs = state->peak_elapsed_secs;
	if (!ending->has_reaped)
		return;
	largest_mib = (double)ending->reaped.ru_maxrss / 1024;
	row->largest_process_peak_mib = largest_mib;
	/* The kernel saw what happened between samples: one process cannot have been larger than the tree. */
	if (real_absent(row->memory_peak_mib) || largest_mib > row->memory_peak_mib) {
		row->memory_peak_mib = largest_mib;
		row->memory_peak_source = "largest_process";
		row->memory_peak_elapsed_secs = no_real(ABSENT_NO_SUCH_COUNTER);
	}
}

static double timeval_secs(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void fill_status(const struct run_ending *ending, struct run_end_row *row)
{
	row->exit_code = no_count(ABSENT_NOT_A_VALUE);
	row->signal = no_count(ABSENT_NOT_A_VALUE);
	if (ending->has_status && WIFEXITED(ending->wait_status))
		row->exit_code = WEXITSTATUS(ending->wait_status);
	if (ending->has_status && WIFSIGNALED(ending->wait_status))
		row->signal = WTERMSIG(ending->wait_status);
	if (ending->exec_errno)
		row->exit_code = ending->exec_errno == ENOENT ? 127 : 126;
}

static const char *evidence(const struct run_ending *ending, struct frame *frame)
{
	char name[SIGNAL_NAME_SIZE], text[128];
	int length;

	if (ending->exec_errno)
		length = snprintf(text, sizeof text, "execve: %s", strerror(ending->exec_errno));
	else if (ending->has_status && WIFSIGNALED(ending->wait_status))
		length = snprintf(text, sizeof text, "wait status: killed by %s%s",
				  signal_name(WTERMSIG(ending->wait_status), name),
				  WCOREDUMP(ending->wait_status) ? ", core dumped" : "");
	else if (ending->has_status)
		length = snprintf(text, sizeof text, "wait status: exit code %d",
				  WEXITSTATUS(ending->wait_status));
	else
		return no_text(ABSENT_NOT_A_VALUE);
	return frame_text(frame, text, (size_t)length);
}

static int64_t descendants_running(const struct process_tree *tree)
{
	const struct member *root = process_tree_root(tree);

	return (int64_t)process_tree_running(tree) - (root && !root->is_zombie);
}

static void fill_end(const struct run *state, struct collect_context *context, struct frame *frame)
{
	const struct run_ending *ending = context->ending;
	struct run_end_row *row = ADD_ROW(frame, run_end, NULL);
	int64_t ended_ns = ending->job_ended_ns ? ending->job_ended_ns : frame->monotonic_ns;
	size_t kept = sizeof ending->signals / sizeof ending->signals[0];

	row->reason = given(frame, ending->reason);
	row->evidence = evidence(ending, frame);
	fill_status(ending, row);
	if (ending->has_reaped) {
		row->utime_secs = timeval_secs(&ending->reaped.ru_utime);
		row->stime_secs = timeval_secs(&ending->reaped.ru_stime);
	}
	row->wall_secs = ns_to_secs(
		ended_ns - (ending->job_started_ns ? ending->job_started_ns : context->progress.started_ns));
	fill_peaks(state, ending, row);
	row->samples = context->progress.number + 1;
	row->missed_ticks = context->progress.missed_total;
	row->dropped_samples = context->progress.dropped;
	if (context->tree) {
		row->descendants_running = descendants_running(context->tree);
		row->sigchld_ignored = context->tree->sigchld_ignored;
	}
	for (size_t i = 0; i < ending->signal_count && i < kept; i++) {
		struct run_end_signal_row *sent = ADD_ROW(frame, run_end_signal, &row->row);
		char name[SIGNAL_NAME_SIZE];

		signal_name(ending->signals[i].number, name);
		sent->signal = frame_text(frame, name, strlen(name));
		sent->elapsed_secs =
			ns_to_secs(ending->signals[i].monotonic_ns - context->progress.started_ns);
	}
}

static void run_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct run *state = state_;

	fill_sample(context, frame);
	if (context->progress.baseline)
		return;
	follow_peak(state, frame);
	if (context->progress.number == 0)
		fill_start(context, frame);
	if (context->ending->reason)
		fill_end(state, context, frame);
}

const struct collector RUN_COLLECTOR = {
	.name = "run",
	.open = run_open,
	.collect = run_collect,
	.close = free,
	.fills = (const enum row_kind[]){ROW_sample, ROW_KINDS},
};
