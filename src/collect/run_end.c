/*
 * How a run ended. See run_end.h.
 *
 * SIGKILL alone is never called an OOM kill. The kernel's log confirms one if it names the process. The
 * counter of a cgroup confirms one if it rose as the job died and no other process in the cgroup could have
 * been killed. A counter that other jobs share, in a cgroup or of the machine, makes it suspected
 * (oom_watch.h).
 */
#include "collect/run_end.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/runs_once.h"
#include "base/signal_names.h"
#include "collect/cgroup_place.h"
#include "collect/first_failure.h"
#include "job/cpu/job_cpu.h"
#include "job/memory/memory_between.h"
#include "kernel/cgroup_v2.h"
#include "metric/typed_rows.h"

enum { EVIDENCE_SIZE = 256 };

#define NO_TREE_PEAK \
	((struct tree_peak){no_real(ABSENT_NOT_TRACKED), no_text(ABSENT_NOT_TRACKED), \
			    no_real(ABSENT_NOT_TRACKED), 0})

void run_end_open(struct run_end_state *state)
{
	*state = (struct run_end_state){
		.peak = NO_TREE_PEAK,
		.by_bound = NO_TREE_PEAK,
		.cgroup_peak_mib = no_real(ABSENT_NO_CGROUP),
		.cgroup_peak_before_mib = no_real(ABSENT_NO_CGROUP),
	};
	oom_watch_open(&state->oom);
}

void run_end_close(struct run_end_state *state)
{
	oom_watch_close(&state->oom);
}

void run_end_prepare(struct run_end_state *state, struct root *root)
{
	oom_watch_prepare(&state->oom, root);
}

/*
 * Returns how many forks failed at a limit of the groups that the job is in, -1 if they are unknown. Before Linux 6.11, and in version 1,
 * the group of the process counts them. Later it is the group that has the limit.
 */
static int64_t count_failed_forks(const struct collect_context *context, int64_t *ret_limit)
{
	const struct cgroup_chain *chain;
	int64_t failed = 0, limit;

	if (!context->place)
		return -1;
	chain = context->place->chains;
	chain += chain[CGROUP_PIDS].depth ? CGROUP_PIDS : CGROUP_UNIFIED;
	*ret_limit = CGROUP_NO_LIMIT;
	for (int i = 0; i < chain->depth; i++) {
		/* Files of events have one form. */
		struct cgroup_v2_memory_events events;

		if (read_cgroup_v2_memory_events(context->root, chain->folders[i], "pids.events", &events) <
		    0)
			continue;
		failed += events.max;
		if (read_cgroup_v2_limit(context->root, chain->folders[i], "pids.max", &limit) == 0 &&
		    limit < *ret_limit)
			*ret_limit = limit;
	}
	return failed;
}

void run_end_baseline(struct run_end_state *state, const struct collect_context *context,
		      const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];
	int64_t limit;

	oom_watch_baseline(&state->oom, context, frame);
	state->failed_forks = count_failed_forks(context, &limit);
	state->memory_cgroup = context->memory_cgroup.id;
	if (cgroup)
		state->cgroup_peak_before_mib = cgroup->memory_peak_mib;
}

/* Resident sets, page faults. */
static bool is_bound(const char *source)
{
	return !text_absent(source) && (strcmp(source, "bound") == 0 || strcmp(source, "rss") == 0);
}

static void raise_peak(struct tree_peak *peak, const struct tree_peak *now)
{
	if (real_absent(peak->mib) || now->mib > peak->mib)
		*peak = *now;
}

/* The memory at the time of the bound was at most what is measured now, and what has left the resident sets since. */
static void lower_bound(struct tree_peak *bound, const struct tree_peak *measured)
{
	double most_mib = measured->mib + bound->rss_mib - measured->rss_mib;

	if (!(bound->rss_mib > measured->rss_mib))
		*bound = NO_TREE_PEAK;
	else if (bound->mib > most_mib)
		bound->mib = most_mib;
}

/* The tree's peak is the largest sum at one moment, never a sum of each process's largest. */
static void follow_tree_peak(struct run_end_state *state, const struct frame *frame)
{
	const struct tree_row *tree = (const void *)frame->first[ROW_tree];
	struct tree_peak now;

	if (!tree)
		return;
	/* The source is a constant text and outlives the frame. */
	now = (struct tree_peak){tree->process_memory_mib, tree->process_memory_source,
				 frame->sample->elapsed_secs, tree->process_rss_mib};
	if (real_absent(now.mib)) {
		if (real_absent(state->peak.mib))
			state->peak.mib = now.mib;
		return;
	}
	if (is_bound(now.source)) {
		raise_peak(&state->by_bound, &now);
		return;
	}
	lower_bound(&state->by_bound, &now);
	raise_peak(&state->peak, &now);
}

const struct tree_peak *run_end_peak(const struct run_end_state *state)
{
	bool above = !real_absent(state->by_bound.mib) &&
		     (real_absent(state->peak.mib) || state->by_bound.mib > state->peak.mib);

	return above ? &state->by_bound : &state->peak;
}

void run_end_follow(struct run_end_state *state, const struct collect_context *context,
		    const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];
	int64_t limit;

	/* After a move, another group has counted before. One that was made for the job is below the group that was looked at. */
	if (context->memory_cgroup.kills_when_left >= 0 && context->tree && context->tree->cgroup_folder < 0)
		state->failed_forks = count_failed_forks(context, &limit);
	follow_tree_peak(state, frame);
	if (context->tree && (double)context->tree->memory.largest_kib / 1024 > state->largest_mib) {
		state->largest_mib = (double)context->tree->memory.largest_kib / 1024;
		state->largest_elapsed_secs = frame->sample->elapsed_secs;
	}
	if (cgroup && !real_absent(cgroup->memory_peak_mib)) {
		if (context->memory_cgroup.id != state->memory_cgroup)
			state->cgroup_peak_before_mib = state->cgroup_peak_mib = cgroup->memory_peak_mib;
		/* Version 1 lets a job reset the kernel's peak. */
		if (!(cgroup->memory_peak_mib <= state->cgroup_peak_mib))
			state->cgroup_peak_mib = cgroup->memory_peak_mib;
		state->memory_cgroup = context->memory_cgroup.id;
	}
	oom_watch_follow(&state->oom, context, frame);
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

static bool was_killed(const struct run_ending *ending)
{
	return ending->has_status && WIFSIGNALED(ending->wait_status) &&
	       WTERMSIG(ending->wait_status) == SIGKILL;
}

/* The exit status of a process that is not our child is unknown. Only the kernel's log can tell. */
static bool job_has_gone(const struct run_ending *ending)
{
	return strcmp(ending->reason, "target_exited") == 0;
}

static const char *oom_reason(const struct run_ending *ending, const struct oom_findings *oom)
{
	if (oom->job == OOM_JOB_NAMED || oom->job == OOM_JOB_COUNTED)
		return "oom_kill_confirmed";
	if (oom->job == OOM_JOB_SUSPECTED)
		return "oom_kill_suspected";
	return ending->reason;
}

/* Returns how certain a suspicion is, or "" without one. */
static const char *oom_confidence(const struct oom_findings *oom)
{
	if (oom->job != OOM_JOB_SUSPECTED)
		return "";
	return oom->by_machine ? "; confidence low" : "; confidence medium";
}

/* Whether kills anywhere on the machine may explain the job's end. A job that succeeded was not hit. */
static bool may_concern_job(const struct run_ending *ending, const struct oom_findings *oom)
{
	return oom->job != OOM_NOT_THE_JOB || (ending->has_status && WIFEXITED(ending->wait_status) &&
					       WEXITSTATUS(ending->wait_status) != 0);
}

static int add_oom(char *text, size_t size, const struct run_ending *ending, const struct oom_findings *oom)
{
	const char *named = oom->job == OOM_JOB_NAMED ? "; the kernel's log names it" : "";
	char ago[64] = "";

	if (!isnan(oom->secs_before_end))
		snprintf(ago, sizeof ago, ", the last at least %lld s before the end",
			 (long long)oom->secs_before_end);
	if (oom->in_cgroup > 0 && oom->only_tree)
		return snprintf(text, size, "%s; %lld of the job's processes killed for lack of memory%s%s",
				named, (long long)oom->in_cgroup, ago, oom_confidence(oom));
	if (oom->in_cgroup > 0)
		return snprintf(
			text, size,
			"%s; %lld killed for lack of memory in the job's cgroup, which others share%s%s",
			named, (long long)oom->in_cgroup, ago, oom_confidence(oom));
	if (oom->on_machine > 0 && may_concern_job(ending, oom))
		return snprintf(text, size,
				"%s; %lld killed for lack of memory on the machine during the run%s", named,
				(long long)oom->on_machine, oom_confidence(oom));
	return snprintf(text, size, "%s", named);
}

/* Adds why the recording ended although its target goes on or is not our child. */
static int add_end_cause(char *text, size_t size, const struct run_ending *ending)
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

static const char *end_evidence(const struct run_ending *ending, const struct oom_findings *oom,
				struct frame *frame)
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
		length = add_end_cause(text, sizeof text, ending);
	had_cause = length > 0;
	length += add_oom(text + length, sizeof text - (size_t)length, ending, oom);
	if (!length)
		return no_text(ABSENT_NOT_GIVEN);
	if (!had_cause) {
		/* Without a cause, remove the separator at the beginning. */
		memmove(text, text + 2, (size_t)length - 1);
		length -= 2;
	}
	return frame_text(frame, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* ---- the record ------------------------------------------------------------------------------------------- */

/*
 * The kernel's peak of a cgroup covers the time since it was made and all its processes: in a login session
 * it may be days old. It is the job's peak in a cgroup of its own, for an attached job, and if it rose while
 * a wrapped job ran.
 */
static double cgroup_peak_of_job(const struct run_end_state *state, const struct collect_context *context)
{
	bool rose = state->cgroup_peak_mib > state->cgroup_peak_before_mib,
	     is_wrapped = context->tree && context->tree->started_by_caller;

	if (real_absent(state->cgroup_peak_mib) || context->own_cgroup ||
	    (context->memory_cgroup.only_tree && (rose || !is_wrapped)))
		return state->cgroup_peak_mib;
	return no_real(ABSENT_NO_ATTRIBUTION);
}

/* A cgroup that holds only the job charges all of its memory, and page cache as well. */
static void fill_peak_between(const struct collect_context *context, double largest_mib,
			      struct run_end_row *row)
{
	const struct memory_between *between = context->tree ? &context->tree->memory.between : NULL;
	double mib;

	if (!between)
		return;
	mib = (double)memory_between_most_kib(between, (int64_t)(largest_mib * 1024)) / 1024;
	if (mib > row->cgroup_memory_peak_mib)
		mib = row->cgroup_memory_peak_mib;
	row->memory_peak_between_mib = mib > row->memory_peak_mib ? mib : row->memory_peak_mib;
}

static void fill_peaks(const struct run_end_state *state, const struct collect_context *context,
		       struct run_end_row *row)
{
	const struct run_ending *ending = context->ending;
	double reaped_mib = ending->has_reaped ? (double)ending->reaped.ru_maxrss / 1024 : 0;
	double largest_mib = reaped_mib > state->largest_mib ? reaped_mib : state->largest_mib;
	const struct tree_peak *peak = run_end_peak(state);
	const struct memory_between *between = context->tree ? &context->tree->memory.between : NULL;
	double once_mib;

	row->memory_peak_mib = peak->mib;
	row->memory_peak_source = peak->source;
	row->memory_peak_elapsed_secs = peak->elapsed_secs;
	row->cgroup_memory_peak_mib = cgroup_peak_of_job(state, context);
	if (largest_mib <= 0)
		return;
	row->largest_process_peak_mib = largest_mib;
	/*
	 * The kernel's mark includes moments between samples. A process cannot have been larger than the
	 * tree.
	 */
	once_mib = between ? (double)memory_between_once_kib(between, (int64_t)(largest_mib * 1024)) / 1024
			   : largest_mib;
	if (real_absent(row->memory_peak_mib) || once_mib > row->memory_peak_mib) {
		row->memory_peak_mib = once_mib;
		row->memory_peak_source = "largest_process";
		/*
		 * wait4(2) does not report the time. A mark that was seen to rise had been reached by then.
		 */
		row->memory_peak_elapsed_secs = largest_mib > state->largest_mib
							? no_real(ABSENT_NO_SUCH_COUNTER)
							: state->largest_elapsed_secs;
	}
	fill_peak_between(context, largest_mib, row);
}

static double timeval_secs(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void fill_status(const struct run_ending *ending, struct run_end_row *row)
{
	row->exit_code = row->signal = row->core_dumped = no_count(ABSENT_NOT_THIS_END);
	if (ending->has_status && WIFEXITED(ending->wait_status))
		row->exit_code = WEXITSTATUS(ending->wait_status);
	if (ending->has_status && WIFSIGNALED(ending->wait_status)) {
		row->signal = WTERMSIG(ending->wait_status);
		row->core_dumped = WCOREDUMP(ending->wait_status) ? 1 : 0;
	}
	if (ending->exec_errno)
		row->exit_code = ending->exec_errno == ENOENT ? 127 : 126;
	row->utime_secs = row->stime_secs = no_real(ECHILD);
	row->voluntary_switches = row->involuntary_switches = no_count(ECHILD);
	if (ending->has_reaped) {
		row->utime_secs = timeval_secs(&ending->reaped.ru_utime);
		row->stime_secs = timeval_secs(&ending->reaped.ru_stime);
		row->voluntary_switches = ending->reaped.ru_nvcsw;
		row->involuntary_switches = ending->reaped.ru_nivcsw;
	}
}

/* This part of a limit is near it. */
#define NEAR_LIMIT 0.75

/* The signal that ended the job, or a process of it whose shell told so by its own status. */
static int signal_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status) > 128 ? WEXITSTATUS(wait_status) - 128 : 0;
}

/*
 * The kernel counts ticks of the processor for this limit, so a process may reach it with less time than the limit has. Half a second
 * or a tenth of it is what a busy machine makes of that.
 */
static bool has_reached(double used_secs, int64_t limit_secs)
{
	double limit = (double)limit_secs;

	return used_secs >= limit - (limit < 5 ? 0.5 : limit / 10);
}

static int write_cpu_limit(const struct run_ending *ending, char *text, size_t size)
{
	double used_secs = timeval_secs(&ending->reaped.ru_utime) + timeval_secs(&ending->reaped.ru_stime);
	int number = signal_of(ending->wait_status);
	int64_t cpu_secs = ending->cpu_limit_secs;

	/*
	 * The kernel sends SIGXCPU at the soft limit, which it then raises by a second, and SIGKILL at the hard one. Ulimit -t
	 * sets both.
	 */
	if (cpu_secs && WIFSIGNALED(ending->wait_status) && number == SIGXCPU)
		cpu_secs--;
	if (cpu_secs && (number == SIGXCPU || (number == SIGKILL && has_reached(used_secs, cpu_secs))))
		return snprintf(text, size, "%lld s of CPU time (ulimit -t)", (long long)cpu_secs);
	return 0;
}

static int write_file_limit(const struct run_ending *ending, char *text, size_t size)
{
	return snprintf(text, size, "files of %.6g KiB (ulimit -f)", (double)ending->file_bytes / 1024);
}

/* Pages in memory are a part of the address space, so most of them near the limit show that it was near. */
static int write_memory_limit(const char *of, char letter, int64_t bytes, double peak_mib, char *text,
			      size_t size)
{
	double limit_mib = (double)bytes / 1048576;
	int length =
		snprintf(text, size, "%s of %lld MiB (ulimit -%c)", of, (long long)(bytes >> 20), letter);

	if (!real_absent(peak_mib) && peak_mib >= limit_mib * NEAR_LIMIT)
		length += snprintf(text + length, size - (size_t)length, ", near its peak of %.0f MiB",
				   peak_mib);
	return length;
}

/* A program that fails because of its size or of a file may tell so by its status alone. */
static const char *process_limit(const struct run_end_state *state, const struct collect_context *context,
				 double peak_mib, struct frame *frame)
{
	const struct run_ending *ending = context->ending;
	char text[96];
	int length = 0;
	int64_t limit;

	if (state->failed_forks >= 0 && count_failed_forks(context, &limit) > state->failed_forks)
		length = snprintf(text, sizeof text,
				  "%lld processes and threads (pids.max), so that a fork failed",
				  (long long)limit);
	else if (!ending->has_status || !ending->wait_status)
		return no_text(ABSENT_NOT_THIS_END);
	if (!length)
		length = write_cpu_limit(ending, text, sizeof text);
	if (!length && ending->file_bytes && signal_of(ending->wait_status) == SIGXFSZ)
		length = write_file_limit(ending, text, sizeof text);
	if (!length && ending->address_space_bytes)
		length = write_memory_limit("an address space", 'v', ending->address_space_bytes, peak_mib,
					    text, sizeof text);
	if (!length && ending->data_bytes)
		length = write_memory_limit("data", 'd', ending->data_bytes, peak_mib, text, sizeof text);
	if (!length && ending->file_bytes)
		length = write_file_limit(ending, text, sizeof text);
	return length ? frame_text(frame, text, (size_t)length) : no_text(ABSENT_NOT_GIVEN);
}

static void fill_network(const struct tree_row *tree, struct run_end_row *row)
{
	row->net_recv_bytes = tree->net_received_total;
	row->net_sent_bytes = tree->net_sent_total;
	row->net_recv_bound_bytes = tree->net_received_bound_total;
	row->net_sent_bound_bytes = tree->net_sent_bound_total;
	row->net_connections = tree->net_connections_total;
	row->net_retransmits = tree->net_retransmits_total;
	row->net_source = tree->process_net_source;
}

static void fill_tree(const struct collect_context *context, const struct frame *frame,
		      struct run_end_row *row)
{
	const struct tree_row *use = (const void *)frame->first[ROW_tree];
	const struct process_tree *tree = context->tree;
	const struct run_ending *ending = context->ending;
	int64_t ended_ns = use && use->row.read_ns ? use->row.read_ns : frame->monotonic_ns;
	const struct member *root = process_tree_root(tree);

	row->descendants_running = (int64_t)process_tree_running(tree) - (root && !root->is_zombie);
	row->sigchld_ignored = tree->sigchld_ignored || cpu_has_lost_usage(tree);
	row->tree_cpu_at_least = cpu_may_lack_children(tree);
	if (!use)
		return;
	fill_network(use, row);
	row->tree_utime_secs = use->utime_total_secs;
	row->tree_stime_secs = use->stime_total_secs;
	row->tree_cpu_wait_secs = use->cpu_wait_total_secs;
	row->tree_cpu_wait_known_secs = use->cpu_wait_known_total_secs;
	if (process_tree_running(tree) == 0 && ending->tree_ended_ns)
		ended_ns = ending->tree_ended_ns;
	row->tree_wall_secs = ns_to_secs(ended_ns - collect_began_ns(context));
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

static void fill_oom(const struct run_end_state *state, const struct oom_findings *oom,
		     struct run_end_row *row)
{
	row->oom_kills =
		oom->only_tree && oom->in_cgroup >= 0 ? oom->in_cgroup : no_count(ABSENT_NO_ATTRIBUTION);
	row->cgroup_oom_kills = oom->in_cgroup >= 0 ? oom->in_cgroup : no_count(ABSENT_NO_SUCH_COUNTER);
	row->machine_oom_kills = oom->on_machine >= 0 ? oom->on_machine : no_count(ABSENT_NO_SUCH_COUNTER);
	row->oom_kill_elapsed_secs = state->oom.elapsed_secs;
	row->oom_kill_limit_mib = state->oom.limit_mib;
	row->oom_kill_peak_mib = state->oom.peak_mib;
}

RUNS_ONCE void run_end_fill(struct run_end_state *state, struct collect_context *context, struct frame *frame)
{
	const struct run_ending *ending = context->ending;
	struct run_end_row *row = ADD_ROW(frame, run_end, NULL);
	int64_t ended_ns = ending->job_ended_ns ? ending->job_ended_ns : frame->monotonic_ns;
	struct oom_findings oom =
		oom_watch_end(&state->oom, context, ended_ns, was_killed(ending) || job_has_gone(ending));
	const char *reason;

	if (job_has_gone(ending) && oom.job != OOM_JOB_NAMED)
		oom.job = OOM_NOT_THE_JOB;
	reason = oom_reason(ending, &oom);

	row_set_absent(&row->row, context->tree ? ABSENT_NO_SUCH_COUNTER : ABSENT_NOT_TRACKED);
	row->reason = frame_text(frame, reason, strlen(reason));
	row->evidence = end_evidence(ending, &oom, frame);
	fill_status(ending, row);
	row->wall_secs = ns_to_secs(ended_ns - collect_began_ns(context));
	fill_peaks(state, context, row);
	row->process_limit = process_limit(state, context, row->largest_process_peak_mib, frame);
	fill_oom(state, &oom, row);
	row->samples = context->progress.number + 1;
	row->missed_ticks = context->progress.missed_total;
	row->dropped_samples = context->progress.dropped;
	if (context->tree)
		fill_tree(context, frame, row);
	fill_signals(context, frame, row);
	first_failure_fill(context, frame, row, ended_ns, oom.only_tree ? oom.in_cgroup : -1);
}
