/*
 * How a run ended; see run_end.h.
 *
 * SIGKILL alone is never called an out-of-memory kill. It is confirmed only by the counter of a cgroup that holds
 * nobody but the tree; a counter of a cgroup or of the machine that others share makes it suspected.
 */
#include "collect/run_end.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "collect/signal_names.h"
#include "kernel/proc_vmstat.h"

enum { EVIDENCE_SIZE = 256 };

void run_end_open(struct run_end_state *state)
{
	*state = (struct run_end_state){
		.peak_mib = no_real(ABSENT_NOT_TRACKED),
		.peak_source = no_text(ABSENT_NOT_TRACKED),
		.peak_elapsed_secs = no_real(ABSENT_NOT_TRACKED),
		.cgroup_peak_mib = no_real(ABSENT_NO_CGROUP),
		.oom_kills_before = -1,
		.machine_oom_kills_before = -1,
	};
}

void run_end_prepare(struct run_end_state *state, struct root *root)
{
	struct proc_vmstat vmstat;

	if (read_proc_vmstat(root, &vmstat) == 0)
		state->machine_oom_kills_before = vmstat.oom_kills;
}

static int64_t cgroup_oom_kills(const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];

	return !cgroup || count_absent(cgroup->oom_kills) ? -1 : cgroup->oom_kills;
}

void run_end_baseline(struct run_end_state *state, const struct collect_context *context,
		      const struct frame *frame)
{
	state->memory_cgroup = context->memory_cgroup.id;
	state->oom_kills_before = cgroup_oom_kills(frame);
}

/* The tree's peak is the largest of the simultaneous sums, never a sum of largest ones. */
static void follow_tree_peak(struct run_end_state *state, const struct frame *frame)
{
	const struct tree_row *tree = (const void *)frame->first[ROW_tree];
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
	/* A constant text of the usage collector: it outlives the frame. */
	state->peak_source = tree->process_memory_source;
}

void run_end_follow(struct run_end_state *state, const struct collect_context *context,
		    const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];

	follow_tree_peak(state, frame);
	if (context->tree && (double)context->tree->largest_kib / 1024 > state->largest_mib) {
		state->largest_mib = (double)context->tree->largest_kib / 1024;
		state->largest_elapsed_secs = frame->sample->elapsed_secs;
	}
	if (cgroup && !real_absent(cgroup->memory_peak_mib))
		state->cgroup_peak_mib = cgroup->memory_peak_mib;
	/* A cgroup that was made for the job has had no kills before it. */
	if (context->own_cgroup) {
		state->oom_kills_before = 0;
	} else if (context->memory_cgroup.id && context->memory_cgroup.id != state->memory_cgroup) {
		/* The job was moved: the kills that this one has had are not known to be the job's. */
		state->oom_kills_before = cgroup_oom_kills(frame);
		state->may_have_been_missed = state->oom_kills_before > 0;
	}
	if (context->memory_cgroup.id)
		state->memory_cgroup = context->memory_cgroup.id;
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

struct oom {
	int64_t in_cgroup; /* kills during the run in the cgroup around the job; -1: not known */
	int64_t on_machine;
	bool only_tree; /* nobody else is in that cgroup */
	bool may_have_been_missed;
};

static int64_t grown(int64_t before, int64_t now)
{
	return before < 0 || now < before ? -1 : now - before;
}

static struct oom find_oom(const struct run_end_state *state, const struct collect_context *context,
			   const struct frame *frame)
{
	struct proc_vmstat vmstat;
	struct oom oom = {
		.in_cgroup = grown(state->oom_kills_before, cgroup_oom_kills(frame)),
		.on_machine = -1,
		.only_tree = context->memory_cgroup.only_tree,
		.may_have_been_missed = state->may_have_been_missed,
	};

	if (read_proc_vmstat(context->root, &vmstat) == 0)
		oom.on_machine = grown(state->machine_oom_kills_before, vmstat.oom_kills);
	return oom;
}

static bool died_of_sigkill(const struct run_ending *ending)
{
	return ending->has_status && WIFSIGNALED(ending->wait_status) &&
	       WTERMSIG(ending->wait_status) == SIGKILL;
}

static const char *oom_reason(const struct run_ending *ending, const struct oom *oom)
{
	if (!died_of_sigkill(ending))
		return ending->reason;
	if (oom->only_tree && oom->in_cgroup > 0)
		return "oom_kill_confirmed";
	/* The kernel counts kills of a cgroup on the machine as well: without any there, it was not that. */
	if (oom->in_cgroup > 0 || ((oom->in_cgroup < 0 || oom->may_have_been_missed) && oom->on_machine > 0))
		return "oom_kill_suspected";
	return ending->reason;
}

static int add_oom(char *text, size_t size, const struct run_ending *ending, const struct oom *oom)
{
	const char *confidence = died_of_sigkill(ending) ? "; confidence medium" : "";

	if (oom->in_cgroup > 0 && oom->only_tree)
		return snprintf(
			text, size,
			"; %lld killed for lack of memory in the job's cgroup, which holds nobody else",
			(long long)oom->in_cgroup);
	if (oom->in_cgroup > 0)
		return snprintf(
			text, size,
			"; %lld killed for lack of memory during the run in the job's cgroup, which may "
			"hold others%s",
			(long long)oom->in_cgroup, confidence);
	if (oom->on_machine > 0)
		return snprintf(text, size,
				"; %lld killed for lack of memory on the machine during the run%s",
				(long long)oom->on_machine,
				died_of_sigkill(ending) && (oom->in_cgroup < 0 || oom->may_have_been_missed)
					? "; confidence low"
					: "");
	return 0;
}

/* What ended the recording of something that goes on, or is not ours. */
static int add_cause(char *text, size_t size, const struct run_ending *ending)
{
	char name[SIGNAL_NAME_SIZE];

	if (strcmp(ending->reason, "target_exited") == 0)
		return snprintf(text, size, "the process has gone");
	if (strcmp(ending->reason, "duration") == 0)
		return snprintf(text, size, "the duration that was asked for is over");
	if (ending->stopped_by > 0)
		return snprintf(text, size, "the tracker got %s", signal_name(ending->stopped_by, name));
	return 0;
}

static const char *evidence(const struct run_ending *ending, const struct oom *oom, struct frame *frame)
{
	char name[SIGNAL_NAME_SIZE], text[EVIDENCE_SIZE];
	bool had_cause;
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
		length = add_cause(text, sizeof text, ending);
	had_cause = length > 0;
	length += add_oom(text + length, sizeof text - (size_t)length, ending, oom);
	if (!length)
		return no_text(ABSENT_NOT_GIVEN);
	if (!had_cause) {
		/* Without a cause the rest is all there is. */
		memmove(text, text + 2, (size_t)length - 1);
		length -= 2;
	}
	return frame_text(frame, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* ---- the record ------------------------------------------------------------------------------------------- */

static void fill_peaks(const struct run_end_state *state, const struct run_ending *ending,
		       struct run_end_row *row)
{
	double reaped_mib = ending->has_reaped ? (double)ending->reaped.ru_maxrss / 1024 : 0;
	double largest_mib = reaped_mib > state->largest_mib ? reaped_mib : state->largest_mib;

	row->memory_peak_mib = state->peak_mib;
	row->memory_peak_source = state->peak_source;
	row->memory_peak_elapsed_secs = state->peak_elapsed_secs;
	row->cgroup_memory_peak_mib = state->cgroup_peak_mib;
	if (largest_mib <= 0)
		return;
	row->largest_process_peak_mib = largest_mib;
	/* The kernel saw what happened between samples: one process cannot have been larger than the tree. */
	if (real_absent(row->memory_peak_mib) || largest_mib > row->memory_peak_mib) {
		row->memory_peak_mib = largest_mib;
		row->memory_peak_source = "largest_process";
		/* wait4(2) does not say when; a mark that was seen to rise was reached by then. */
		row->memory_peak_elapsed_secs = largest_mib > state->largest_mib
							? no_real(ABSENT_NO_SUCH_COUNTER)
							: state->largest_elapsed_secs;
	}
}

static double timeval_secs(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void fill_status(const struct run_ending *ending, struct run_end_row *row)
{
	row->exit_code = row->signal = no_count(ABSENT_NOT_THIS_END);
	if (ending->has_status && WIFEXITED(ending->wait_status))
		row->exit_code = WEXITSTATUS(ending->wait_status);
	if (ending->has_status && WIFSIGNALED(ending->wait_status))
		row->signal = WTERMSIG(ending->wait_status);
	if (ending->exec_errno)
		row->exit_code = ending->exec_errno == ENOENT ? 127 : 126;
	if (ending->has_reaped) {
		row->utime_secs = timeval_secs(&ending->reaped.ru_utime);
		row->stime_secs = timeval_secs(&ending->reaped.ru_stime);
	}
}

static void fill_tree(const struct process_tree *tree, struct run_end_row *row)
{
	const struct member *root = process_tree_root(tree);

	row->descendants_running = (int64_t)process_tree_running(tree) - (root && !root->is_zombie);
	row->sigchld_ignored = tree->sigchld_ignored || process_tree_lost_usage(tree);
}

static void fill_signals(const struct collect_context *context, struct frame *frame, struct run_end_row *row)
{
	const struct run_ending *ending = context->ending;
	size_t kept = sizeof ending->signals / sizeof ending->signals[0];

	for (size_t i = 0; i < ending->signal_count && i < kept; i++) {
		struct run_end_signal_row *sent = ADD_ROW(frame, run_end_signal, &row->row);
		char name[SIGNAL_NAME_SIZE];

		signal_name(ending->signals[i].number, name);
		sent->signal = frame_text(frame, name, strlen(name));
		sent->elapsed_secs =
			ns_to_secs(ending->signals[i].monotonic_ns - context->progress.started_ns);
	}
}

void run_end_fill(struct run_end_state *state, struct collect_context *context, struct frame *frame)
{
	const struct run_ending *ending = context->ending;
	struct run_end_row *row = ADD_ROW(frame, run_end, NULL);
	int64_t started_ns = ending->job_started_ns ? ending->job_started_ns : context->progress.started_ns;
	int64_t ended_ns = ending->job_ended_ns ? ending->job_ended_ns : frame->monotonic_ns;
	struct oom oom = find_oom(state, context, frame);
	const char *reason = oom_reason(ending, &oom);

	row->reason = frame_text(frame, reason, strlen(reason));
	row->evidence = evidence(ending, &oom, frame);
	fill_status(ending, row);
	row->wall_secs = ns_to_secs(ended_ns - started_ns);
	fill_peaks(state, ending, row);
	row->oom_kills =
		oom.only_tree && oom.in_cgroup >= 0 ? oom.in_cgroup : no_count(ABSENT_NO_ATTRIBUTION);
	row->samples = context->progress.number + 1;
	row->missed_ticks = context->progress.missed_total;
	row->dropped_samples = context->progress.dropped;
	if (context->tree)
		fill_tree(context->tree, row);
	fill_signals(context, frame, row);
}
