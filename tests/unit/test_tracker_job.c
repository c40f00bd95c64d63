/* Tests of src/tracker/tracker.c: facts that a caller tells about its job, settings that contradict each other, and their messages. */
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "job/pass.h"
#include "tracker/tracker.h"

static rt_config *config;
static rt_tracker *tracker;

/* An empty machine with one process, 100. */
static int begin_machine(void **state)
{
	int error = scratch_enter(state);

	tracker = NULL;
	put_below("machine/proc/100/stat",
		  "100 (job) S 1 100 100 0 -1 4194304 0 0 0 0 5 5 0 0 20 0 1 0 500 0 0 "
		  "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	return error | rt_config_new(&config) | rt_config_set(config, "root", "machine");
}

static int end_machine(void **state)
{
	rt_close(tracker);
	rt_config_free(config);
	return scratch_leave(state);
}

static void open_tracker(void)
{
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
}

static void track_job(void)
{
	open_tracker();
	assert_int_equal(rt_track(tracker, 100, true), 0);
}

#define assert_warning(expected) \
	do { \
		char warning[500] = ""; \
		assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), 0); \
		assert_string_equal(warning, expected); \
	} while (0)
#define assert_no_warning() assert_int_equal(rt_next_warning(tracker, (char[500]){0}, 500), -ENOENT)

/* ---- the job's life ---------------------------------------------------------------------------------------- */

static void a_tracker_has_one_job(void **state)
{
	(void)state;
	open_tracker();
	assert_string_equal(rt_config_message(config), "");
	assert_int_equal(rt_track(tracker, 4711, true), -ESRCH);
	assert_int_equal(rt_track(tracker, 100, true), 0);
	assert_int_equal(rt_track(tracker, 100, true), -EALREADY);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(rt_track(tracker, 100, true), -ESHUTDOWN);
}

static void a_job_begins_between_opening_and_tracking(void **state)
{
	int64_t tracked_ns, opened_ns;

	(void)state;
	track_job();
	tracked_ns = tracker->ending.job_started_ns;
	opened_ns = tracker->context.progress.started_ns;
	assert_true(opened_ns > 0 && tracked_ns > opened_ns);
	assert_int_equal(rt_set_job_start(tracker, tracked_ns + 1), -EINVAL);
	assert_int_equal(rt_set_job_start(tracker, opened_ns - 1), -EINVAL);
	assert_int_equal(tracker->ending.job_started_ns, tracked_ns);
	assert_int_equal(rt_set_job_start(tracker, tracked_ns), 0);
	assert_int_equal(rt_set_job_start(tracker, opened_ns), 0);
	assert_int_equal(tracker->ending.job_started_ns, opened_ns);
}

static struct rusage usage_of(int user_usecs, int system_usecs, long peak_kib)
{
	struct rusage usage = {.ru_utime.tv_usec = user_usecs, .ru_stime.tv_usec = system_usecs};

	usage.ru_maxrss = peak_kib;
	usage.ru_nvcsw = 3;
	usage.ru_nivcsw = 2;
	return usage;
}

static void the_use_of_reaped_processes_adds_up(void **state)
{
	const struct rusage child = usage_of(600000, 100, 500), root = usage_of(700000, 50, 400);
	const struct run_ending *ending;

	(void)state;
	track_job();
	ending = &tracker->ending;
	assert_int_equal(rt_add_exited(tracker, 101, 1 << 8, &child), 0);
	assert_true(ending->has_reaped && ending->tree_ended_ns > 0);
	assert_int_equal(ending->job_ended_ns, 0);
	assert_false(tracker->has_job_status);
	assert_int_equal(rt_add_exited(tracker, 100, 7 << 8, &root), 0);
	assert_int_equal(ending->reaped.ru_utime.tv_sec, 1);
	assert_int_equal(ending->reaped.ru_utime.tv_usec, 300000);
	assert_int_equal(ending->reaped.ru_stime.tv_usec, 150);
	assert_int_equal(ending->reaped.ru_maxrss, 500);
	assert_int_equal(ending->reaped.ru_nvcsw, 6);
	assert_int_equal(ending->reaped.ru_nivcsw, 4);
	assert_int_equal(ending->job_ended_ns, ending->tree_ended_ns);
	assert_true(tracker->has_job_status && tracker->job_status == 7 << 8);
}

static void an_excluded_process_is_not_of_the_job(void **state)
{
	const struct rusage usage = usage_of(600000, 100, 500);

	(void)state;
	track_job();
	assert_int_equal(rt_exclude(tracker, 102), 0);
	assert_int_equal(rt_add_exited(tracker, 102, 0, &usage), 0);
	assert_false(tracker->ending.has_reaped);
	assert_int_equal(tracker->ending.reaped.ru_maxrss, 0);
}

static void the_first_32_signals_are_kept(void **state)
{
	const struct run_ending *ending;

	(void)state;
	open_tracker();
	ending = &tracker->ending;
	for (int i = 0; i < 34; i++)
		assert_int_equal(rt_add_signal(tracker, SIGUSR1, 1000 + i), 0);
	assert_int_equal(ending->signal_count, 34);
	for (int i = 0; i < 32; i++)
		assert_true(ending->signals[i].number == SIGUSR1 &&
			    ending->signals[i].monotonic_ns == 1000 + i);
}

/* A child that stays a zombie until it is reaped, with limits of its own. */
static pid_t fork_with_limits(void)
{
	pid_t child = fork();

	if (child == 0) {
		const struct rlimit file = {5 << 20, 6 << 20}, cpu = {50, 60},
				    data = {1 << 30, RLIM_INFINITY};

		_exit(setrlimit(RLIMIT_FSIZE, &file) | setrlimit(RLIMIT_CPU, &cpu) |
		      setrlimit(RLIMIT_DATA, &data));
	}
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	return child;
}

static void limits_are_those_of_the_job_s_first_process(void **state)
{
	const struct run_ending *ending;
	struct rlimit space;
	int status;
	pid_t child;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	track_job();
	ending = &tracker->ending;
	child = fork_with_limits();
	assert_int_equal(rt_before_reap(tracker, child), 0);
	assert_int_equal(ending->file_bytes, 0);
	tracker->tree->root_pid = child;
	assert_int_equal(rt_before_reap(tracker, child), 0);
	assert_int_equal(getrlimit(RLIMIT_AS, &space), 0);
	assert_int_equal(ending->address_space_bytes,
			 space.rlim_cur == RLIM_INFINITY ? 0 : (int64_t)space.rlim_cur);
	assert_int_equal(ending->file_bytes, 5 << 20);
	assert_int_equal(ending->cpu_limit_secs, 50);
	assert_int_equal(ending->data_bytes, 1 << 30);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* Now no process has this number. */
	assert_int_equal(rt_before_reap(tracker, child), 0);
	assert_int_equal(ending->file_bytes, 0);
	assert_int_equal(ending->cpu_limit_secs, 0);
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

static void each_end_has_its_own_facts(void **state)
{
	static const struct {
		enum rt_end_reason reason;
		int status;
		const char *name;
		bool has_status, killed;
		int exec_errno, stopped_by;
	} CASES[] = {
		{RT_END_EXIT, 3 << 8, "exit", true, false, 0, 0},
		{RT_END_SIGNAL, SIGKILL, "signal", true, true, 0, 0},
		{RT_END_SIGNAL, SIGTERM, "signal", true, false, 0, 0},
		{RT_END_EXIT, SIGKILL << 8, "exit", true, false, 0, 0},
		{RT_END_EXEC_FAILED, ENOENT, "exec_failed", false, false, ENOENT, 0},
		{RT_END_TARGET_EXITED, 0, "target_exited", false, false, 0, 0},
		{RT_END_TRACKER_STOPPED, SIGINT, "tracker_stopped", false, false, 0, SIGINT},
		{RT_END_DURATION, 5, "duration", false, false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const struct run_ending *ending;
		enum rt_end_reason reason = 0;

		open_tracker();
		ending = &tracker->ending;
		assert_false(rt_over(tracker, &reason));
		assert_int_equal(rt_finish(tracker, CASES[i].reason, CASES[i].status), 0);
		assert_string_equal(ending->reason, CASES[i].name);
		assert_int_equal(ending->has_status, CASES[i].has_status);
		assert_int_equal(ending->wait_status, CASES[i].has_status ? CASES[i].status : 0);
		assert_int_equal(ending->killed, CASES[i].killed);
		assert_int_equal(ending->exec_errno, CASES[i].exec_errno);
		assert_int_equal(ending->stopped_by, CASES[i].stopped_by);
		assert_true(rt_over(tracker, &reason));
		assert_int_equal(reason, CASES[i].reason);
		assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
		rt_close(tracker);
		tracker = NULL;
	}
	for (int i = RT_END_EXIT; i <= RT_END_DURATION; i++)
		assert_true(is_end_reason((enum rt_end_reason)i));
	assert_false(is_end_reason((enum rt_end_reason)(RT_END_EXIT - 1)));
	assert_false(is_end_reason((enum rt_end_reason)(RT_END_DURATION + 1)));
}

/* An attached job ends when its process does, unless the user wants to go on. A wrapped one ends with wait4(2). */
static void an_attached_job_ends_with_its_process(void **state)
{
	enum rt_end_reason reason = 0;

	(void)state;
	assert_int_equal(rt_config_set(config, "pid", "100"), 0);
	open_tracker();
	assert_false(rt_over(tracker, &reason));
	tracker->tree->root_gone = true;
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_TARGET_EXITED);
	tracker->wrapped = true;
	assert_false(rt_over(tracker, &reason));
	tracker->wrapped = false;
	tracker->config->keep_running = true;
	assert_false(rt_over(tracker, &reason));
}

/* The end that a caller leaves out is told by rt_close(). */
static void closing_ends_the_recording(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(rt_config_set(config, "output", "a.jsonl"), 0);
	open_tracker();
	assert_false(rt_over(tracker, NULL));
	rt_close(tracker);
	text = get_file("a.jsonl", NULL);
	assert_non_null(strstr(text, "\"reason\":\"tracker_stopped\""));
	assert_null(strstr(text, "the tracker got"));
	free(text);
	open_tracker();
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, SIGTERM), 0);
	assert_true(rt_over(tracker, NULL));
	text = get_file("a.jsonl", NULL);
	assert_non_null(strstr(text, "the tracker got SIGTERM"));
	free(text);
}

/* ---- which processes --------------------------------------------------------------------------------------- */

static bool is_excluded(pid_t pid)
{
	return process_tree_excludes(tracker->tree, pid);
}

/* Writes a process with our own number to the machine of the tests. */
static void put_own_number(void)
{
	char path[64], stat[300];

	snprintf(path, sizeof path, "machine/proc/%d/stat", (int)getpid());
	snprintf(stat, sizeof stat,
		 "%d (job) S 1 100 100 0 -1 4194304 0 0 0 0 5 5 0 0 20 0 1 0 500 0 0 18446744073709551615 "
		 "0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 (int)getpid());
	put_below(path, stat);
}

static void a_process_of_another_machine_is_not_this_one(void **state)
{
	(void)state;
	put_own_number();
	assert_int_equal(rt_config_set_int(config, "pid", getpid()), 0);
	open_tracker();
	assert_false(tracker->context.in_program || tracker->own_cost.with_io);
	assert_false(is_excluded(getpid()));
	rt_close(tracker);
	assert_int_equal(rt_config_set(config, "pid", "100"), 0);
	open_tracker();
	assert_false(tracker->context.in_program);
	assert_false(is_excluded(getpid()));
}

/* A child that waits for its end. */
static pid_t fork_waiting_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		alarm(60);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

/* The caller's earlier children belong to a process that it attaches to, and not to a job that it starts later. */
static void earlier_children_are_of_the_attached_process_alone(void **state)
{
	pid_t child, other;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	child = fork_waiting_child();
	other = fork_waiting_child();
	assert_int_equal(rt_config_set(config, "root", "/"), 0);
	open_tracker();
	assert_true(is_excluded(child) && is_excluded(other));
	assert_false(tracker->context.in_program || is_excluded(getpid()));
	rt_close(tracker);
	assert_int_equal(rt_config_set_int(config, "pid", child), 0);
	open_tracker();
	/* The recorder itself is left out. */
	assert_true(is_excluded(getpid()));
	assert_false(is_excluded(child) || is_excluded(other) || tracker->context.in_program);
	rt_close(tracker);
	assert_int_equal(rt_config_set_int(config, "pid", getpid()), 0);
	open_tracker();
	assert_false(is_excluded(getpid()) || is_excluded(child) || is_excluded(other));
	assert_true(tracker->context.in_program && tracker->own_cost.with_io);
	/* Its own cost is counted during its calls alone. */
	assert_false(tracker->own_cost.running);
	assert_int_equal(rt_sample(tracker), 0);
	assert_false(tracker->own_cost.running);
	tracker->context.attend_ns = 1;
	assert_int_equal(tracker_sample_due(tracker, 1), 0);
	assert_true(tracker->context.attend_ns > 1 && !tracker->own_cost.running);
	rt_close(tracker);
	tracker = NULL;
	kill(child, SIGKILL);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

/* ---- the job's group --------------------------------------------------------------------------------------- */

static void a_group_is_made_once_and_belongs_to_one_job(void **state)
{
	(void)state;
	open_tracker();
	/* The machine of the tests has no control groups. */
	assert_int_equal(rt_job_cgroup(tracker), -EOPNOTSUPP);
	assert_int_equal(rt_track_in_cgroup(tracker, 100), -EINVAL);
	tracker->own_cgroup.folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(tracker->own_cgroup.folder >= 0);
	assert_int_equal(rt_job_cgroup(tracker), tracker->own_cgroup.folder);
	assert_int_equal(rt_track_in_cgroup(tracker, 4711), -ESRCH);
	assert_false(tracker->own_cgroup.used);
	tracker->own_cgroup.has_memory = true;
	assert_int_equal(rt_track_in_cgroup(tracker, 100), 0);
	assert_true(tracker->own_cgroup.used && tracker->context.own_cgroup && tracker->wrapped);
	assert_int_equal(rt_track_in_cgroup(tracker, 100), -EALREADY);
	close(tracker->own_cgroup.folder);
	tracker->own_cgroup.folder = -1;
	rt_close(tracker);
	/* A job outside it does not use its memory. */
	open_tracker();
	tracker->own_cgroup.has_memory = true;
	assert_int_equal(rt_track(tracker, 100, true), 0);
	assert_false(tracker->own_cgroup.used || tracker->context.own_cgroup);
}

/* ---- settings and messages --------------------------------------------------------------------------------- */

static void a_missing_process_is_named(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set(config, "pid", "4711"), 0);
	assert_int_equal(rt_open(config, &tracker), -ESRCH);
	assert_string_equal(rt_config_message(config), "no process with pid 4711: check the number (--pid)");
	put_below("machine/proc/4711/status", "Name:\tx\nTgid:\t4711\nPid:\t4711\n");
	assert_int_equal(rt_open(config, &tracker), -ESRCH);
	assert_string_equal(rt_config_message(config), "no process with pid 4711: check the number (--pid)");
	put_below("machine/proc/4711/status", "Name:\tx\nTgid:\t4700\nPid:\t4711\n");
	assert_int_equal(rt_open(config, &tracker), -ESRCH);
	assert_string_equal(rt_config_message(config), "4711 is a thread: give its process, 4700 (--pid)");
	assert_null(tracker);
}

static void a_missing_root_folder_is_named(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set(config, "root", "none"), 0);
	assert_int_equal(rt_open(config, &tracker), -ENOENT);
	assert_string_equal(rt_config_message(config),
			    "root folder 'none' cannot be opened: No such file or directory");
	assert_null(tracker);
}

static void signals_after_the_duration_are_told(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set(config, "signal-at",
				       "time=10s:USR1,time=9.9s:USR1,time=-10s/20s:TERM,time=-11s/20s:TERM,"
				       "time=50%/20s:INT,time=49%/20s:INT,memory=90%:USR2,time=-1s:TERM"),
			 0);
	assert_int_equal(rt_config_set(config, "duration", "10s"), 0);
	open_tracker();
	assert_warning("--signal-at: time=10s:USR1 is never sent, because --duration ends before");
	assert_warning("--signal-at: time=-10s/20s:TERM is never sent, because --duration ends before");
	assert_warning("--signal-at: time=50%/20s:INT is never sent, because --duration ends before");
	assert_no_warning();
	rt_close(tracker);
	/* Without a duration all are sent. */
	assert_int_equal(rt_config_set(config, "duration", "1e9"), 0);
	open_tracker();
	assert_no_warning();
}

/* A rule works whatever is recorded. */
static void a_rule_adds_its_metrics_to_a_selection(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set(config, "signal-at", "time=10s:USR1"), 0);
	open_tracker();
	assert_int_equal(tracker->config->metric_count, 0);
	rt_close(tracker);
	assert_int_equal(rt_config_set(config, "metrics", "memory.used_mib"), 0);
	open_tracker();
	assert_int_equal(tracker->config->metric_count, 2);
	assert_string_equal(tracker->config->metrics[1], "signals_at");
	assert_int_equal(config->metric_count, 1);
}

static void settings_reach_the_collectors(void **state)
{
	static const struct {
		const char *pss;
		enum pss_mode mode;
	} CASES[] = {{"off", PSS_MODE_OFF}, {"always", PSS_MODE_ALWAYS}, {"auto", PSS_MODE_AUTO}};

	(void)state;
	assert_int_equal(rt_config_set(config, "waits", "7"), 0);
	assert_int_equal(rt_config_set(config, "gpus", "all"), 0);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		assert_int_equal(rt_config_set(config, "pss", CASES[i].pss), 0);
		assert_int_equal(rt_config_set(config, "programs", i ? "off" : "9"), 0);
		open_tracker();
		assert_int_equal(tracker->context.pss, CASES[i].mode);
		assert_int_equal(tracker->context.program_rows, i ? 0 : 9);
		assert_true(!tracker->tree->programs == !!i);
		assert_int_equal(tracker->context.wait_rows, 7);
		assert_string_equal(tracker->context.gpus, "all");
		assert_null(tracker->context.environment);
		assert_false(tracker->context.in_program);
		assert_null(tracker->context.gpu_vendor);
		assert_true(tracker->context.attend_ns > 0 && !tracker->context.no_process_network);
		rt_close(tracker);
	}
	assert_int_equal(rt_config_set(config, "gpu-vendor", "amd"), 0);
	open_tracker();
	assert_string_equal(tracker->context.gpu_vendor, "amd");
}

/* Figures of programs are only gathered if one of their two rows is recorded. */
static void programs_are_watched_for_their_rows(void **state)
{
	static const struct {
		const char *metrics;
		bool watched;
	} CASES[] = {{"memory", false}, {"programs", true}, {"run_end.programs", true}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		rt_config *selection = NULL;

		assert_int_equal(config_copy(config, &selection), 0);
		assert_int_equal(rt_config_set(selection, "metrics", CASES[i].metrics), 0);
		assert_int_equal(rt_open(selection, &tracker), 0);
		assert_true(!tracker->tree->programs == !CASES[i].watched);
		rt_close(tracker);
		rt_config_free(selection);
	}
	tracker = NULL;
}

/* A caller that only stops tells nothing of the end, and the thread neither. */
static void a_thread_that_is_stopped_has_no_signal(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set(config, "interval", "0.001"), 0);
	open_tracker();
	assert_int_equal(rt_wait_for_samples(tracker, 0, 0), 0);
	assert_int_equal(rt_wait_for_samples(tracker, 1, 0), -ETIMEDOUT);
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(tracker->own_cost.threads, 1);
	assert_int_equal(rt_wait_for_samples(tracker, 2, 60), 0);
	assert_int_equal(rt_wait_for_samples(tracker, tracker->sample_count + 2, 1e300), 0);
	assert_int_equal(rt_stop(tracker), 0);
	assert_string_equal(tracker->ending.reason, "tracker_stopped");
	assert_int_equal(tracker->ending.stopped_by, 0);
	assert_int_equal(tracker->own_cost.threads, 0);
	assert_int_equal(rt_wait_for_samples(tracker, 2, 0), 0);
	rt_close(tracker);
	open_tracker();
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_stop_with(tracker, RT_END_TRACKER_STOPPED, SIGTERM), 0);
	assert_int_equal(tracker->ending.stopped_by, SIGTERM);
	rt_close(tracker);
	open_tracker();
	rt_close(tracker);
	tracker = NULL;
}

/* The job's start does not wait for what the first sample needs. */
static void a_wrapped_job_is_prepared_later(void **state)
{
	char *const argv[] = {(char[]){"job"}, NULL};

	(void)state;
	open_tracker();
	assert_true(tracker->prepared);
	rt_close(tracker);
	assert_int_equal(rt_config_set_command(config, argv), 0);
	/* Without a job, the first sample prepares. */
	open_tracker();
	assert_false(tracker->prepared);
	assert_int_equal(rt_sample(tracker), 0);
	assert_true(tracker->prepared && tracker->context.prepared);
	rt_close(tracker);
	open_tracker();
	assert_false(tracker->prepared);
	assert_int_equal(rt_track(tracker, 100, true), 0);
	assert_true(tracker->wrapped);
	assert_true(tracker->prepare_ns - tracker->ending.job_started_ns >= 2 * NSEC_PER_MSEC);
	assert_int_equal(rt_next_sample_ns(tracker), tracker->prepare_ns);
	assert_int_equal(tracker_sample_due(tracker, tracker->prepare_ns - 1), 0);
	assert_false(tracker->prepared);
	assert_int_equal(tracker_sample_due(tracker, tracker->prepare_ns), 0);
	assert_true(tracker->prepared);
	assert_true(rt_next_sample_ns(tracker) > tracker->prepare_ns);
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin_machine, end_machine)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(a_tracker_has_one_job),
		unit_test_of_job(a_job_begins_between_opening_and_tracking),
		unit_test_of_job(the_use_of_reaped_processes_adds_up),
		unit_test_of_job(an_excluded_process_is_not_of_the_job),
		unit_test_of_job(the_first_32_signals_are_kept),
		unit_test_of_job(limits_are_those_of_the_job_s_first_process),
		unit_test_of_job(each_end_has_its_own_facts),
		unit_test_of_job(an_attached_job_ends_with_its_process),
		unit_test_of_job(closing_ends_the_recording),
		unit_test_of_job(a_process_of_another_machine_is_not_this_one),
		unit_test_of_job(earlier_children_are_of_the_attached_process_alone),
		unit_test_of_job(a_group_is_made_once_and_belongs_to_one_job),
		unit_test_of_job(a_missing_process_is_named),
		unit_test_of_job(a_missing_root_folder_is_named),
		unit_test_of_job(signals_after_the_duration_are_told),
		unit_test_of_job(a_rule_adds_its_metrics_to_a_selection),
		unit_test_of_job(settings_reach_the_collectors),
		unit_test_of_job(programs_are_watched_for_their_rows),
		unit_test_of_job(a_thread_that_is_stopped_has_no_signal),
		unit_test_of_job(a_wrapped_job_is_prepared_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
