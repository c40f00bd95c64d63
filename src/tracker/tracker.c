/* The public functions for a tracker's life: open, track, sample, finish, close. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/runs_once.h"
#include "collect/cgroup_usage.h"
#include "collect/process_usage.h"
#include "job/cpu/job_cpu.h"
#include "job/cpu/process_waiting.h"
#include "job/new_members.h"
#include "job/pass.h"
#include "job/programs/programs.h"
#include "kernel/proc_pid_status.h"
#include "launch/in_time.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"

/* A wrapped job that ends sooner does not wait while the tracker reads the names of devices. */
#define PREPARE_AFTER_NS (2 * NSEC_PER_MSEC)

_Static_assert(RT_VERSION_NUMBER == VERSION_NUMBER, "the header's version is not that of meson.build");

const char *rt_version(void)
{
	return RT_VERSION;
}

static void init_lock(struct rt_tracker *tracker)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&tracker->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&tracker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void tracker_free(struct rt_tracker *tracker)
{
	tracker_close_sources(tracker);
	for (int i = 0; i < FRAMES; i++)
		frame_done(&tracker->frames[i]);
	kept_samples_close(&tracker->kept);
	tracker_close_outputs(tracker);
	streaming_close(tracker);
	apart_close(tracker);
	buffer_done(&tracker->line);
	buffer_done(&tracker->packed);
	buffer_done(&tracker->warnings);
	texts_done(&tracker->texts);
	free(tracker->command_json);
	free(tracker->folder);
	free(tracker->tags);
	rt_config_free(tracker->config);
	pthread_cond_destroy(&tracker->changed);
	pthread_mutex_destroy(&tracker->lock);
	free(tracker);
}

static void open_collectors(struct rt_tracker *tracker)
{
	for (size_t i = 0; COLLECTORS[i] && i < COLLECTORS_MOST; i++) {
		int64_t begun_ns = debug_now_ns();
		bool wanted = false;

		for (const enum row_kind *kind = COLLECTORS[i]->fills; *kind != ROW_KINDS; kind++)
			wanted |= tracker->selection.kinds[*kind];
		/* The fields of a collector that cannot work stay absent. */
		tracker->runs[i] = wanted && COLLECTORS[i]->open(&tracker->context, &tracker->states[i]) == 0;
		debug_say("collector", begun_ns, "%s %s", COLLECTORS[i]->name,
			  tracker->runs[i] ? "is open"
			  : wanted         ? "cannot work here"
					   : "is not needed");
		tracker_take_warning(tracker);
	}
}

static int seed_tree(struct rt_tracker *tracker, pid_t pid, bool started_by_caller)
{
	int error = process_tree_seed(tracker->tree, pid, started_by_caller);

	if (!error)
		tracker->context.tree = tracker->tree;
	else if (error == -EXDEV && started_by_caller)
		tracker_warn(tracker, PROC_OF_STRANGERS);
	return error;
}

/*
 * Without --pid, processes that exist now (helpers and the caller's earlier children) do not belong to the
 * job that the caller starts later. With --pid they do, even if that process is the caller itself.
 */
static int new_tree(struct rt_tracker *tracker, struct rt_config *config)
{
	int error = process_tree_new(&tracker->root, !tracker->config->no_children, &tracker->tree);

	if (error < 0)
		return config_fail(config, error, "out of memory");
	waiting_follow(tracker->tree, process_usage_follows_waiting(&tracker->selection));
	if (tracker->root.live && !tracker->config->pid)
		discover_excluded(tracker->tree);
	if (config->programs &&
	    (tracker->selection.kinds[ROW_program] || tracker->selection.kinds[ROW_run_end_program]))
		error = programs_new(tracker->root.live && config->own_process && !config->no_children,
				     &tracker->tree->programs);
	return error < 0 ? config_fail(config, error, "out of memory") : 0;
}

RUNS_ONCE static int refuse_pid(struct rt_tracker *tracker, struct rt_config *config)
{
	int pid = tracker->config->pid;
	struct proc_pid_status status = {.tgid = pid};

	(void)read_proc_pid_status(&tracker->root, pid, &status);
	return config_fail(config, -ESRCH,
			   status.tgid > 0 && status.tgid != pid
				   ? "%d is a thread: give its process, %d (--pid)"
				   : "no process with pid %d: check the number (--pid)",
			   pid, (int)status.tgid);
}

static int seed_attached(struct rt_tracker *tracker, struct rt_config *config)
{
	int error;

	if (!tracker->config->pid)
		return 0;
	if (tracker->config->pid == getpid() && tracker->root.live) {
		tracker->context.in_program = true;
		tracker->own_cost.with_io = true;
		cpu_set_own_cost(tracker->tree, &tracker->own_cost);
		own_cost_begin(&tracker->own_cost, &tracker->root);
	}
	/* A recorder that was started from within the tree is left out of it. */
	if (tracker->config->pid != getpid() && tracker->root.live)
		process_tree_exclude(tracker->tree, getpid());
	error = seed_tree(tracker, tracker->config->pid, false);
	if (error == -ESRCH)
		return refuse_pid(tracker, config);
	if (error < 0)
		return config_fail(config, error, "pid %d cannot be read: %s", (int)tracker->config->pid,
				   error == -EXDEV ? PROC_OF_STRANGERS : strerror(-error));
	return 0;
}

struct root_call {
	const char *dir;
};

/* A folder may be known to the kernel while its files are not: a look at one of them. */
static void look_into_root(void *data)
{
	const struct root_call *call = data;
	struct root root;

	if (root_open(&root, call->dir, NULL) < 0)
		return;
	(void)root_read(&root, "proc/stat");
	root_close(&root);
}

static int open_root(struct rt_tracker *tracker)
{
	const char *dir = tracker->config->root_dir;

	if (dir && act_in_time(dir, look_into_root, &(struct root_call){dir}, sizeof(struct root_call)) ==
			   -ETIMEDOUT)
		return -ETIMEDOUT;
	return root_open(&tracker->root, dir, NULL);
}

/* A rule that depends on a limit in force, or on memory, has no such time. */
RUNS_ONCE static void tell_late_signals(struct rt_tracker *tracker)
{
	const struct rt_config *config = tracker->config;
	char text[SIGNAL_RULE_BYTES + 64];

	for (size_t i = 0; i < config->signal_rule_count; i++) {
		const struct signal_rule *rule = &config->signal_rules[i];
		double secs = rule->value;

		if (rule->is_share)
			secs *= rule->limit_secs;
		else if (secs < 0)
			secs += rule->limit_secs;
		if (!config->duration_ns || secs * 1e9 < (double)config->duration_ns)
			continue;
		snprintf(text, sizeof text, "--signal-at: %s is never sent, because --duration ends before",
			 rule->text);
		tracker_warn(tracker, text);
	}
}

static int prepare_tracker(struct rt_tracker *tracker, struct rt_config *config)
{
	int error = config_copy(config, &tracker->config);

	if (error < 0)
		return config_fail(config, error, "out of memory");
	error = open_root(tracker);
	if (error < 0)
		return config_fail(config, error, "root folder '%s' cannot be opened: %s",
				   tracker->config->root_dir ? tracker->config->root_dir : "/",
				   error == -ETIMEDOUT ? "its file system does not answer"
						       : strerror(-error));
	/* A rule works whatever is recorded. */
	if (tracker->config->signal_rule_count && tracker->config->metric_count &&
	    rt_config_set(tracker->config, "metrics", "signals_at") < 0)
		return config_fail(config, -ENOMEM, "out of memory");
	tell_late_signals(tracker);
	selection_init(&tracker->selection, tracker->config->no_system, tracker->config->no_process,
		       tracker->config->metrics, tracker->config->metric_count);
	error = tracker_gather_facts(tracker);
	if (error < 0)
		return config_fail(config, error, "out of memory");
	return 0;
}

static int open_here(rt_config *config, rt_tracker **ret_tracker)
{
	struct rt_tracker *tracker = calloc(1, sizeof *tracker);
	CLEANUP_FREE char **environment = NULL;
	int error;

	if (!tracker)
		return config_fail(config, -ENOMEM, "out of memory");
	init_lock(tracker);
	tracker->owner = getpid();
	tracker->root = (struct root){.dir_fd = -1, .proc_fd = -1};
	tracker->own_cgroup = OWN_CGROUP;
	tracker->streaming = STREAMING;
	tracker->warnings = BUFFER(WARNINGS_CEILING);
	if (config->apart) {
		error = apart_open(tracker, config);
		if (error < 0)
			tracker_free(tracker);
		else
			*ret_tracker = tracker;
		return error;
	}
	error = prepare_tracker(tracker, config);
	if (!error)
		error = new_tree(tracker, config);
	if (!error)
		error = seed_attached(tracker, config);
	if (!error)
		error = tracker_open_history(tracker, config);
	if (!error)
		error = tracker_open_outputs(tracker, config);
	if (error < 0) {
		tracker_free(tracker);
		return error;
	}
	environment = config_environment(tracker->config);
	tracker->context.cloud = tracker->config->cloud;
	tracker->context.no_process_network = tracker->config->no_process_network;
	tracker->context.attend_ns = INT64_MAX;
	tracker->context.own_process = tracker->config->own_process;
	tracker->context.environment = environment;
	tracker->context.root = &tracker->root;
	tracker->context.own_cost = &tracker->own_cost;
	tracker->context.cgroup_mounts = &tracker->cgroup_mounts;
	tracker->context.facts = &tracker->facts;
	tracker->context.ending = &tracker->ending;
	tracker->context.selection = &tracker->selection;
	tracker->context.root_dir = tracker->config->root_dir;
	tracker->context.gpus = tracker->config->gpus;
	tracker->context.gpu_vendor = config_gpu_vendor_name(tracker->config);
	tracker->context.program_rows = tracker->tree->programs ? config->programs : 0;
	tracker->context.wait_rows = config->waits;
	tracker->context.wait_details = config->record_targets;
	tracker->context.signal_rules = tracker->config->signal_rules;
	tracker->context.signal_rule_count = tracker->config->signal_rule_count;
	tracker->context.pss = tracker->config->pss == PSS_OFF      ? PSS_MODE_OFF
			       : tracker->config->pss == PSS_ALWAYS ? PSS_MODE_ALWAYS
								    : PSS_MODE_AUTO;
	open_collectors(tracker);
	tracker->context.environment = NULL;
	streaming_open(tracker, environment);
	/* A helper may have become our child: leave it out of the job. */
	if (tracker->config->pid && tracker->streaming.pid > 0)
		process_tree_exclude(tracker->tree, tracker->streaming.pid);
	else if (!tracker->config->pid && (tracker->context.helper_count || tracker->streaming.pid))
		discover_excluded(tracker->tree);
	error = tracker_take_sample(tracker, true);
	if (error < 0) {
		tracker_take_outputs_back(tracker);
		tracker_free(tracker);
		return config_fail(config, error, "out of memory");
	}
	tracker_start_grid(tracker);
	/* A wrapper starts its job first. It calls tracker_prepare() later. */
	if (!tracker->config->argc)
		tracker_prepare(tracker);
	own_cost_end(&tracker->own_cost, &tracker->root);
	*ret_tracker = tracker;
	return 0;
}

RUNS_ONCE int rt_open(rt_config *config, rt_tracker **ret_tracker)
{
	rt_config *defaults = NULL;
	int error = 0;

	if (!config) {
		error = rt_config_new(&defaults);
		config = defaults;
	}
	if (!error)
		error = open_here(config, ret_tracker);
	rt_config_free(defaults);
	return error;
}

int rt_job_cgroup(struct rt_tracker *tracker)
{
	int folder = tracker_enter(tracker);

	if (folder < 0)
		return folder;
	if (tracker->finished) {
		folder = -ESHUTDOWN;
	} else if (tracker->own_cgroup.folder >= 0) {
		folder = tracker->own_cgroup.folder;
	} else {
		enum own_cgroup_mode mode = tracker->config->cgroup == CGROUP_OFF       ? OWN_CGROUP_OFF
					    : tracker->config->cgroup == CGROUP_REQUIRE ? OWN_CGROUP_REQUIRE
											: OWN_CGROUP_AUTO;

		folder = own_cgroup_make(&tracker->own_cgroup, &tracker->cgroup_mounts, &tracker->root, mode);
		if (!folder)
			folder = tracker->own_cgroup.folder;
	}
	tracker_unlock(tracker);
	return folder;
}

static int track_process(struct rt_tracker *tracker, pid_t pid, bool started_by_caller, bool in_cgroup)
{
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	error = tracker->finished       ? -ESHUTDOWN
		: tracker->context.tree ? -EALREADY
					: seed_tree(tracker, pid, started_by_caller);
	if (!error) {
		tracker->wrapped = started_by_caller;
		tracker->ending.job_started_ns = root_monotonic_ns(&tracker->root);
		process_usage_begin(tracker->previous);
		tracker->own_cgroup.used = in_cgroup;
		tracker->context.own_cgroup = in_cgroup && tracker->own_cgroup.has_memory;
		if (in_cgroup) {
			process_tree_set_cgroup(tracker->tree, tracker->own_cgroup.folder,
						tracker->own_cgroup.has_memory);
			cgroup_usage_begin(tracker->previous);
		}
		tracker->prepare_ns = root_monotonic_ns(&tracker->root) + PREPARE_AFTER_NS;
	}
	tracker_unlock(tracker);
	return error;
}

int rt_track(struct rt_tracker *tracker, pid_t pid, bool started_by_caller)
{
	return track_process(tracker, pid, started_by_caller, false);
}

int rt_track_in_cgroup(struct rt_tracker *tracker, pid_t pid)
{
	int error = tracker_enter(tracker);
	bool has_folder;

	if (error < 0)
		return error;
	has_folder = tracker->own_cgroup.folder >= 0;
	tracker_unlock(tracker);
	if (!has_folder)
		return -EINVAL;
	return track_process(tracker, pid, true, true);
}

/* The same for calls about the tracked job: -ESRCH if there is none. */
static int enter_job(struct rt_tracker *tracker)
{
	int error = tracker_enter(tracker);

	if (!error && !tracker->context.tree) {
		tracker_unlock(tracker);
		return -ESRCH;
	}
	return error;
}

int rt_set_job_start(struct rt_tracker *tracker, int64_t monotonic_ns)
{
	int error = enter_job(tracker);

	if (error < 0)
		return error;
	if (monotonic_ns > tracker->ending.job_started_ns ||
	    monotonic_ns < tracker->context.progress.started_ns)
		error = -EINVAL;
	else
		tracker->ending.job_started_ns = monotonic_ns;
	tracker_unlock(tracker);
	return error;
}

/* The limits of a process can be read until it is reaped. A job may have set its own (ulimit). */
static int64_t limit_of(int result, const struct rlimit *limit)
{
	return result < 0 || limit->rlim_cur == RLIM_INFINITY ? 0 : (int64_t)limit->rlim_cur;
}

int rt_before_reap(struct rt_tracker *tracker, pid_t pid)
{
	struct rlimit limit;
	int error = enter_job(tracker);

	if (error < 0)
		return error;
	process_tree_before_reap(tracker->tree, pid);
	if (pid == tracker->tree->root_pid) {
		tracker->ending.address_space_bytes = limit_of(prlimit(pid, RLIMIT_AS, NULL, &limit), &limit);
		tracker->ending.data_bytes = limit_of(prlimit(pid, RLIMIT_DATA, NULL, &limit), &limit);
		tracker->ending.file_bytes = limit_of(prlimit(pid, RLIMIT_FSIZE, NULL, &limit), &limit);
		tracker->ending.cpu_limit_secs = limit_of(prlimit(pid, RLIMIT_CPU, NULL, &limit), &limit);
	}
	tracker_unlock(tracker);
	return 0;
}

int rt_add_exited(struct rt_tracker *tracker, pid_t pid, int status, const struct rusage *usage)
{
	struct run_ending *ending;
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	ending = &tracker->ending;
	/* wait4(2) tells a job's use without its /proc, too. */
	if (!tracker->tree->root_pid) {
		error = -ESRCH;
	} else if (!process_tree_excludes(tracker->tree, pid)) {
		if (tracker->context.tree)
			process_tree_add_exited(tracker->tree, pid, usage);
		timeradd(&ending->reaped.ru_utime, &usage->ru_utime, &ending->reaped.ru_utime);
		timeradd(&ending->reaped.ru_stime, &usage->ru_stime, &ending->reaped.ru_stime);
		ending->reaped.ru_nvcsw += usage->ru_nvcsw;
		ending->reaped.ru_nivcsw += usage->ru_nivcsw;
		if (usage->ru_maxrss > ending->reaped.ru_maxrss)
			ending->reaped.ru_maxrss = usage->ru_maxrss;
		ending->has_reaped = true;
		ending->tree_ended_ns = root_monotonic_ns(&tracker->root);
		if (pid == tracker->tree->root_pid) {
			ending->job_ended_ns = ending->tree_ended_ns;
			tracker->has_job_status = true;
			tracker->job_status = status;
		}
	}
	tracker_unlock(tracker);
	return error;
}

int rt_exclude(struct rt_tracker *tracker, pid_t pid)
{
	int error = enter_job(tracker);

	if (error < 0)
		return error;
	process_tree_exclude(tracker->tree, pid);
	error = process_tree_excludes(tracker->tree, pid) ? 0 : -ENOMEM;
	tracker_unlock(tracker);
	return error;
}

int rt_add_signal(struct rt_tracker *tracker, int signo, int64_t monotonic_ns)
{
	struct run_ending *ending;
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	ending = &tracker->ending;
	if (ending->signal_count < sizeof ending->signals / sizeof ending->signals[0])
		ending->signals[ending->signal_count] = (struct sent_signal){signo, monotonic_ns};
	ending->signal_count++;
	tracker_unlock(tracker);
	return 0;
}

int rt_sample(struct rt_tracker *tracker)
{
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	if (tracker->finished)
		error = -ESHUTDOWN;
	else if (tracker->state == RT_STATE_RUNNING)
		error = -EBUSY;
	else
		error = tracker_take_sample(tracker, false);
	tracker_unlock(tracker);
	return error;
}

int rt_sample_due(struct rt_tracker *tracker)
{
	int taken = tracker_enter(tracker);

	if (taken < 0)
		return taken;
	taken = tracker->state == RT_STATE_RUNNING
			? -EBUSY
			: tracker_sample_due(tracker, root_monotonic_ns(&tracker->root));
	tracker_unlock(tracker);
	return taken;
}

bool rt_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason)
{
	bool over;

	if (!tracker_lock(tracker))
		return true;
	over = tracker->apart ? apart_is_over(tracker, ret_reason)
			      : tracker->finished || tracker_over(tracker, ret_reason);
	if (tracker->finished && ret_reason)
		*ret_reason = tracker->end_reason;
	tracker_unlock(tracker);
	return over;
}

int rt_finish(struct rt_tracker *tracker, enum rt_end_reason reason, int status)
{
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	if (!is_end_reason(reason))
		error = -EINVAL;
	else
		error = tracker->state == RT_STATE_RUNNING ? -EBUSY : tracker_finish(tracker, reason, status);
	if (!error)
		tracker->state = RT_STATE_STOPPED;
	tracker_let_go(tracker);
	tracker_unlock(tracker);
	return error;
}

/*
 * In a forked child, memory is a copy that may have been made in the middle of a sample: do not use it. The
 * parent's files must not be flushed or unlocked from here, only close the descriptors.
 */
static void close_in_child(struct rt_tracker *tracker)
{
	if (tracker->apart)
		close(tracker->apart->socket);
	for (size_t i = 0; i < tracker->output_count; i++)
		target_leave(tracker->outputs[i].target);
}

void rt_close(struct rt_tracker *tracker)
{
	if (!tracker)
		return;
	if (tracker->owner != getpid()) {
		close_in_child(tracker);
		return;
	}
	/* A thread that ended by itself must still be joined. */
	(void)rt_stop(tracker);
	if (tracker->apart)
		(void)apart_ask(tracker, REMOTE_STOP, RT_END_TRACKER_STOPPED, 0);
	else if (!tracker->finished)
		(void)rt_finish(tracker, RT_END_TRACKER_STOPPED, 0);
	tracker_free(tracker);
}
