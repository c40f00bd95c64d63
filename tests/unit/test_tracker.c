/*
 * The public life of a tracker: states and their errors, samples by hand and in the background, one-shot
 * readers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#include "resource_tracker.h"

static rt_tracker *open_tracker(const char *const *settings)
{
	rt_config *config;
	rt_tracker *tracker = NULL;

	assert_int_equal(rt_config_new(&config), 0);
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	rt_config_free(config);
	return tracker;
}

#define OPEN(...) open_tracker((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static struct rt_value value_of(rt_tracker *tracker, const char *name)
{
	struct rt_value value = {0};

	assert_int_equal(rt_get(tracker, rt_metric_find(name), 0, &value), 0);
	return value;
}

static void burn(double secs)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < secs);
}

static const char *own_pid(void)
{
	static char text[24];

	snprintf(text, sizeof text, "%d", (int)getpid());
	return text;
}

/* An emulator that shows another machine's root folder has no /proc in it. */
#define NEEDS_PROC_BELOW_ROOT() \
	do { \
		int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); \
		bool has_proc = faccessat(root_fd, "proc/self/stat", F_OK, 0) == 0; \
\
		close(root_fd); \
		if (!has_proc) \
			SKIP("no /proc below /"); \
	} while (0)

static void no_sample_has_no_values(void **state)
{
	rt_tracker *tracker = OPEN("no-process", "1");
	struct rt_value value;
	char *json;

	(void)state;
	assert_int_equal(rt_get(tracker, rt_metric_find("memory.total_mib"), 0, &value), -ENODATA);
	assert_int_equal(rt_sample_json(tracker, &json), -ENODATA);
	assert_int_equal(rt_sample_count(tracker), 0);
	rt_close(tracker);
}

/* Each row by its own name, by its position and in sums equals the result of rt_get(). */
static void values_by_their_full_names(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_tracker *tracker = OPEN("no-process", "1");
	rt_metric device = rt_metric_find("disk.device"), read = rt_metric_find("disk.read_bytes_total");
	struct rt_value by_number, by_name, key;
	double sum = 0;
	char name[300];

	(void)state;
	assert_int_equal(rt_get_named(tracker, "memory.total_mib", &by_name), -ENODATA);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_get_named(tracker, "memory.total_mib", &by_name), 0);
	assert_true(by_name.real == value_of(tracker, "memory.total_mib").real);
	for (size_t i = 0; i < rt_instance_count(tracker, device); i++) {
		assert_int_equal(rt_get(tracker, device, i, &key), 0);
		assert_int_equal(rt_get(tracker, read, i, &by_number), 0);
		snprintf(name, sizeof name, "disk[%s].read_bytes_total", key.text);
		assert_int_equal(rt_get_named(tracker, name, &by_name), 0);
		assert_int_equal(by_name.type, by_number.type);
		/* A loop device has none of its own: the disk below it counts them. */
		if (by_name.type == RT_TYPE_COUNT) {
			assert_int_equal(by_name.count, by_number.count);
			sum += (double)by_number.count;
		}
		snprintf(name, sizeof name, "disk[%zu].device", i);
		assert_int_equal(rt_get_named(tracker, name, &by_name), 0);
		assert_string_equal(by_name.text, key.text);
	}
	if (rt_instance_count(tracker, device)) {
		assert_int_equal(rt_get_named(tracker, "disk[sum].read_bytes_total", &by_name), 0);
		assert_true(by_name.type == RT_TYPE_REAL && by_name.real == sum);
	}
	assert_int_equal(rt_get_named(tracker, "disk[no-such-disk].device", &by_name), -ENOENT);
	assert_int_equal(rt_get_named(tracker, "no.such.metric", &by_name), -ENOENT);
	assert_int_equal(rt_get_named(tracker, "disk.device", &by_name), -EINVAL);
	assert_int_equal(rt_get_named(tracker, "disk[sum].device", &by_name), -EINVAL);
	assert_int_equal(rt_get_named(tracker, "memory[0].total_mib", &by_name), -EINVAL);
	assert_int_equal(rt_get_named(tracker, "disk[vda", &by_name), -EINVAL);
	assert_int_equal(rt_get_named(tracker, NULL, &by_name), -ENOENT);
	rt_close(tracker);
}

static void samples_by_hand(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_tracker *tracker = OPEN("pid", own_pid());
	struct rt_value value;
	char *json, *text;

	(void)state;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_sample_count(tracker), 2);
	assert_true(value_of(tracker, "memory.total_mib").real > 1);
	assert_int_equal(value_of(tracker, "tracked_pid").count, getpid());
	assert_string_equal(value_of(tracker, "cpu.process_cpu_source").text, "clock");
	assert_int_equal(rt_get(tracker, rt_metric_find("disk.device"), 1000, &value), -ENOENT);
	assert_int_equal(rt_get(tracker, 0, 0, &value), -ENOENT);
	value = value_of(tracker, "job_name");
	assert_int_equal(value.type, RT_TYPE_NONE);
	assert_string_not_equal(rt_reason(value.reason), "unknown");
	assert_int_equal(rt_sample_json(tracker, &json), 0);
	assert_int_equal(json[0], '{');
	assert_int_equal(rt_explain_absent(tracker, &text), 0);
	assert_non_null(strstr(text, "job_name: it was not given"));
	free(json);
	free(text);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(rt_sample(tracker), -ESHUTDOWN);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), -ESHUTDOWN);
	assert_int_equal(rt_start(tracker), -ESHUTDOWN);
	rt_close(tracker);
}

static void states_of_the_thread(void **state)
{
	rt_tracker *tracker = OPEN("interval", "0.01", "no-system", "1");
	enum rt_end_reason reason = 0;

	(void)state;
	assert_int_equal(rt_get_state(tracker), RT_STATE_READY);
	assert_int_equal(rt_finish(tracker, (enum rt_end_reason)0, 0), -EINVAL);
	assert_int_equal(rt_track_in_cgroup(tracker, 1), -EINVAL);
	assert_int_equal(rt_stop(tracker), -ENOTCONN);
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_start(tracker), -EALREADY);
	assert_int_equal(rt_get_state(tracker), RT_STATE_RUNNING);
	assert_int_equal(rt_sample(tracker), -EBUSY);
	assert_int_equal(rt_sample_due(tracker), -EBUSY);
	assert_int_equal(rt_finish(tracker, RT_END_EXIT, 0), -EBUSY);
	assert_false(rt_over(tracker, NULL));
	assert_int_equal(rt_wait_for_samples(tracker, 3, 30), 0);
	assert_int_equal(rt_wait_for_samples(tracker, INT64_MAX, 0.01), -ETIMEDOUT);
	assert_int_equal(rt_stop_with(tracker, (enum rt_end_reason)99, 0), -EINVAL);
	assert_int_equal(rt_get_state(tracker), RT_STATE_RUNNING);
	assert_int_equal(rt_stop_with(tracker, RT_END_EXIT, 0), 0);
	assert_int_equal(rt_stop(tracker), -EALREADY);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	/* A loop on rt_over() ends, whichever thread has stopped the tracker. */
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_EXIT);
	assert_int_equal(rt_next_sample_ns(tracker), INT64_MAX);
	assert_int_equal(rt_start(tracker), -ESHUTDOWN);
	assert_int_equal(rt_wait_for_samples(tracker, INT64_MAX, -1), -ESHUTDOWN);
	rt_close(tracker);
}

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* A program may keep the tracker for its results: they stay readable, and nothing else is held. */
static void a_finished_tracker_holds_no_descriptor(void **state)
{
	int before = count_descriptors();
	char path[] = "/tmp/rt-tracker-XXXXXX";
	int file = mkstemp(path);

	(void)state;
	close(file);
	for (int way = 0; way < 2; way++) {
		rt_tracker *tracker =
			OPEN("interval", "0.01", "pid", own_pid(), "output", path, "append", "1");
		char *reasons = NULL;

		assert_true(count_descriptors() > before);
		if (way == 0)
			assert_int_equal(rt_sample(tracker), 0);
		else
			assert_int_equal(rt_start(tracker), 0);
		if (way == 1)
			assert_int_equal(rt_wait_for_samples(tracker, 3, 30), 0);
		assert_int_equal(way ? rt_stop(tracker) : rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
		assert_int_equal(count_descriptors(), before);
		for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
			struct rt_value value;

			for (size_t row = 0; rt_get(tracker, metric, row, &value) == 0; row++)
				continue;
		}
		assert_int_equal(rt_explain_absent(tracker, &reasons), 0);
		free(reasons);
		assert_string_equal(rt_output_path(tracker, 0), path);
		assert_int_equal(rt_track(tracker, getpid(), false), -ESHUTDOWN);
		assert_int_equal(rt_job_cgroup(tracker), -ESHUTDOWN);
		rt_close(tracker);
	}
	unlink(path);
}

static void calls_without_a_tracker_have_no_effect(void **state)
{
	enum rt_end_reason reason = RT_END_DURATION;
	struct rt_value value = {.count = 7};
	rt_snapshot *snapshot = NULL;
	struct rusage usage = {0};
	char *text = NULL, line[8] = "";
	double values[1];
	int64_t first;
	size_t bytes;

	(void)state;
	assert_int_equal(rt_get_state(NULL), RT_STATE_STOPPED);
	assert_int_equal(rt_next_sample_ns(NULL), INT64_MAX);
	assert_true(rt_over(NULL, &reason) && reason == RT_END_DURATION);
	assert_int_equal(rt_sample_count(NULL), -ECHILD);
	assert_int_equal(rt_recorder_pid(NULL), 0);
	assert_null(rt_output_path(NULL, 0));
	assert_int_equal(rt_instance_count(NULL, rt_metric_find("sample")), 0);
	rt_close(NULL);
	assert_int_equal(rt_track(NULL, getpid(), false), -ECHILD);
	assert_int_equal(rt_track_in_cgroup(NULL, getpid()), -ECHILD);
	assert_int_equal(rt_set_job_start(NULL, 1), -ECHILD);
	assert_int_equal(rt_job_cgroup(NULL), -ECHILD);
	assert_int_equal(rt_before_reap(NULL, getpid()), -ECHILD);
	assert_int_equal(rt_add_exited(NULL, getpid(), 0, &usage), -ECHILD);
	assert_int_equal(rt_exclude(NULL, getpid()), -ECHILD);
	assert_int_equal(rt_add_signal(NULL, SIGTERM, 1), -ECHILD);
	assert_int_equal(rt_sample(NULL), -ECHILD);
	assert_int_equal(rt_sample_due(NULL), -ECHILD);
	assert_int_equal(rt_finish(NULL, RT_END_TRACKER_STOPPED, 0), -ECHILD);
	assert_int_equal(rt_wait_for_upload(NULL, 0), -ECHILD);
	assert_int_equal(rt_upload_answer(NULL, &text), -ECHILD);
	assert_int_equal(rt_start(NULL), -ECHILD);
	assert_int_equal(rt_stop(NULL), -ECHILD);
	assert_int_equal(rt_stop_with(NULL, RT_END_TRACKER_STOPPED, 0), -ECHILD);
	assert_int_equal(rt_wait_for_samples(NULL, 1, 0), -ECHILD);
	assert_int_equal(rt_get(NULL, rt_metric_find("sample"), 0, &value), -ECHILD);
	assert_int_equal(rt_get_named(NULL, "sample", &value), -ECHILD);
	assert_int_equal(rt_snapshot_take(NULL, &snapshot), -ECHILD);
	assert_int_equal(rt_sample_json(NULL, &text), -ECHILD);
	assert_int_equal(rt_explain_absent(NULL, &text), -ECHILD);
	assert_int_equal(rt_next_warning(NULL, line, sizeof line), -ECHILD);
	assert_int_equal(rt_history_count(NULL, &first, &bytes), -ECHILD);
	assert_int_equal(rt_history_read(NULL, NULL, "sample", 0, 1, values), -ECHILD);
	assert_true(value.count == 7 && !text && !snapshot);
}

static void errors_of_opening(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_config *config;
	rt_tracker *tracker = NULL;

	(void)state;
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "pid", "2147483647"), 0);
	assert_int_equal(rt_open(config, &tracker), -ESRCH);
	assert_non_null(strstr(rt_config_message(config), "2147483647"));
	assert_null(tracker);
	rt_config_free(config);
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "metrics", "memory.*,no_such_metric"), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "no_such_metric"));
	rt_config_free(config);
}

static void selection_keeps_only_the_wanted_metrics(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_tracker *tracker = OPEN("metrics", "memory.total_mib");

	(void)state;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_not_equal(value_of(tracker, "memory.total_mib").type, RT_TYPE_NONE);
	assert_int_equal(value_of(tracker, "memory.free_mib").type, RT_TYPE_NONE);
	assert_int_equal(value_of(tracker, "cpu.load_1m").type, RT_TYPE_NONE);
	assert_int_not_equal(value_of(tracker, "timestamp").type, RT_TYPE_NONE);
	rt_close(tracker);
}

/*
 * Forks a child that begins when a byte arrives. The fork comes before any tracker exists, because valgrind
 * would report the child's copy of a tracker as a leak.
 */
static pid_t fork_worker(int *ret_begin)
{
	int begin[2];
	pid_t child;

	assert_int_equal(pipe(begin), 0);
	child = fork();
	if (child == 0) {
		char byte;

		close(begin[1]);
		if (read(begin[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < 20; i++) {
			if (fork() == 0) {
				burn(0.003);
				_exit(0);
			}
			wait(NULL);
		}
		burn(0.05);
		_exit(7);
	}
	close(begin[0]);
	*ret_begin = begin[1];
	return child;
}

/* The samples include everything that our child used, to the microsecond of wait4. */
static void totals_are_those_of_wait4(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	int begin, status;
	pid_t child = fork_worker(&begin);
	rt_tracker *tracker = OPEN("no-system", "1");
	double sum = 0, truth;
	struct rusage usage;

	(void)state;
	assert_int_equal(rt_track(tracker, child, true), 0);
	assert_int_equal(write(begin, "x", 1), 1);
	close(begin);
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		assert_int_equal(rt_sample(tracker), 0);
		sum += value_of(tracker, "cpu.process_utime_secs").real +
		       value_of(tracker, "cpu.process_stime_secs").real;
	}
	waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
	assert_int_equal(rt_before_reap(tracker, child), 0);
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	assert_int_equal(rt_add_exited(tracker, child, status, &usage), 0);
	assert_int_equal(rt_finish(tracker, RT_END_EXIT, status), 0);
	sum += value_of(tracker, "cpu.process_utime_secs").real +
	       value_of(tracker, "cpu.process_stime_secs").real;
	truth = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	if (!(sum > truth - 0.0002 && sum < truth + 0.0002))
		fail_msg("samples add up to %.6f s, wait4 says %.6f s", sum, truth);
	assert_int_equal(value_of(tracker, "run_end.exit_code").count, 7);
	assert_string_equal(value_of(tracker, "run_end.reason").text, "exit");
	assert_int_equal(value_of(tracker, "cpu.process_rss_mib").type, RT_TYPE_NONE);
	rt_close(tracker);
}

/* Without settings there are the machine's values; the caller must name the process. */
static void opening_without_settings(void **state)
{
	rt_tracker *tracker = NULL;

	(void)state;
	assert_int_equal(rt_open(NULL, &tracker), 0);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_not_equal(value_of(tracker, "sample").type, RT_TYPE_NONE);
	assert_int_equal(value_of(tracker, "tracked_pid").type, RT_TYPE_NONE);
	rt_close(tracker);
	assert_string_equal(rt_config_message(NULL), "");
	assert_int_equal(rt_metric_find(NULL), 0);
}

/* A wrapper hears that it reports a child of no job. */
static void calls_about_the_job_need_one(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_tracker *tracker = OPEN("no-system", "1");
	struct rusage usage = {0};
	struct timespec now;

	(void)state;
	assert_int_equal(rt_before_reap(tracker, 1), -ESRCH);
	assert_int_equal(rt_add_exited(tracker, 1, 0, &usage), -ESRCH);
	assert_int_equal(rt_exclude(tracker, 1), -ESRCH);
	assert_int_equal(rt_set_job_start(tracker, 1), -ESRCH);
	assert_int_equal(rt_add_signal(tracker, SIGUSR1, 1), 0);
	assert_int_equal(rt_track(tracker, getpid(), false), 0);
	assert_int_equal(rt_exclude(tracker, 1), 0);
	assert_int_equal(rt_set_job_start(tracker, 1), -EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_int_equal(rt_set_job_start(tracker, (int64_t)(now.tv_sec + 5) * 1000000000), -EINVAL);
	rt_close(tracker);
}

static void settings_need_a_name_and_a_value(void **state)
{
	rt_config *config;

	(void)state;
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, NULL, "1"), -EINVAL);
	assert_int_equal(rt_config_set(config, "job-name", NULL), -EINVAL);
	assert_string_equal(rt_config_message(config), "job-name: there is no value");
	assert_int_equal(rt_config_set_variable(config, NULL, "1"), -EINVAL);
	assert_int_equal(rt_config_set_int(config, "pid", 1), 0);
	assert_int_equal(rt_config_set_int(config, "pid", -1), -EINVAL);
	assert_string_equal(rt_config_message(config),
			    "pid: '-1' is not a process id; give a positive number");
	assert_int_equal(rt_config_set_int(config, "pidd", 1), -ENOENT);
	assert_int_equal(rt_config_set_int(config, "duration", INT64_MAX), -EINVAL);
	rt_config_free(config);
}

/* Records a child that ended by `code` or `signo`; the program then only stops its tracker. */
static rt_tracker *tracked_child(int code, int signo, bool in_background)
{
	rt_tracker *tracker = OPEN("no-system", "1", "interval", "0.01");
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (signo)
			raise(signo);
		_exit(code);
	}
	assert_int_equal(rt_track(tracker, child, true), 0);
	if (in_background)
		assert_int_equal(rt_start(tracker), 0);
	waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
	assert_int_equal(rt_before_reap(tracker, child), 0);
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	assert_int_equal(rt_add_exited(tracker, child, status, &usage), 0);
	if (in_background)
		assert_int_equal(rt_stop(tracker), 0);
	return tracker;
}

static void a_status_that_was_told_is_recorded(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	rt_tracker *tracker = tracked_child(7, 0, true);
	enum rt_end_reason reason;

	(void)state;
	assert_string_equal(value_of(tracker, "run_end.reason").text, "exit");
	assert_int_equal(value_of(tracker, "run_end.exit_code").count, 7);
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_EXIT);
	rt_close(tracker);
	tracker = tracked_child(0, SIGTERM, false);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_string_equal(value_of(tracker, "run_end.reason").text, "signal");
	assert_int_equal(value_of(tracker, "run_end.signal").count, SIGTERM);
	rt_close(tracker);
	/* The caller's own reason stays. */
	tracker = tracked_child(0, 0, false);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, SIGINT), 0);
	assert_string_equal(value_of(tracker, "run_end.reason").text, "tracker_stopped");
	rt_close(tracker);
}

static void one_shot_readers(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	struct rt_process process = {.size = sizeof process};
	struct rt_system machine = {.size = sizeof machine};
	double user_secs, system_secs;
	int64_t bytes, written;
	pid_t *pids = NULL, child = fork();
	bool listed = false;
	ssize_t count;

	(void)state;
	if (child == 0) {
		alarm(30); /* in case the parent dies first */
		pause();
		_exit(0);
	}
	assert_int_equal(rt_process_descendants(getpid(), &pids), 1);
	assert_int_equal(pids[0], child);
	free(pids);
	/* The asking process is a descendant like any other. */
	pids = NULL;
	count = rt_process_descendants(getppid(), &pids);
	for (ssize_t i = 0; i < count; i++)
		listed |= pids[i] == getpid();
	assert_true(count < 0 || listed);
	free(pids);
	assert_int_equal(rt_process_rss(getpid(), &bytes), 0);
	assert_true(bytes > 100000);
	assert_int_equal(rt_process_times(getpid(), true, &user_secs, &system_secs), 0);
	assert_int_equal(rt_process_io(getpid(), &bytes, &written), 0);
	assert_int_equal(rt_process_read(getpid(), true, &process), 0);
	assert_int_equal(process.child_count, 1);
	assert_true(process.rss_bytes > 100000);
	assert_int_equal(rt_process_rss(2147483647, &bytes), -ESRCH);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(rt_process_descendants(getpid(), &pids), 0);
	free(pids);
	assert_int_equal(rt_system_read(&machine), 0);
	assert_true(machine.memory_total_bytes > 0 && machine.process_count > 1);
	assert_int_equal(rt_disk_is_partition("no-such-device"), -ENOENT);
}

/* A program that was compiled with a later header has longer structs, and one that forgot the size must be told. */
static void structs_carry_their_size(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	struct {
		struct rt_process process;
		unsigned char behind[64];
	} later;
	struct rt_metric_info info = {.size = 0};
	struct rt_system machine = {.size = sizeof machine - 1};

	(void)state;
	memset(&later, 0xa5, sizeof later);
	later.process.size = sizeof later;
	assert_int_equal(rt_process_read(getpid(), false, &later.process), 0);
	assert_int_equal(later.process.size, sizeof later);
	assert_int_equal(later.process.pid, getpid());
	for (size_t i = 0; i < sizeof later.behind; i++)
		assert_int_equal(later.behind[i], 0xa5);
	assert_int_equal(rt_metric_get_info(rt_metric_find("memory.used_mib"), &info), -EINVAL);
	assert_int_equal(info.size, 0);
	assert_int_equal(rt_system_read(&machine), -EINVAL);
}

/* Agrees with sysfs for every block device of this machine. */
static void partitions_are_those_of_sysfs(void **state)
{
	NEEDS_PROC_BELOW_ROOT();
	DIR *devices = opendir("/sys/class/block");
	const struct dirent *entry;
	int known = 0;

	(void)state;
	while (devices && (entry = readdir(devices))) {
		char path[512];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/sys/class/block/%s/partition", entry->d_name);
		assert_int_equal(rt_disk_is_partition(entry->d_name), access(path, F_OK) == 0);
		known++;
	}
	if (devices)
		closedir(devices);
	if (!known)
		SKIP("no block device");
}

static void metrics_have_names(void **state)
{
	int count = 0;

	(void)state;
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric), count++) {
		struct rt_metric_info info = {.size = sizeof info};

		assert_int_equal(rt_metric_get_info(metric, &info), 0);
		assert_int_equal(rt_metric_find(info.name), metric);
		assert_true(*info.help && *info.source);
	}
	assert_true(count > 150);
	assert_int_equal(rt_metric_find("no.such.metric"), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_sample_has_no_values),
		cmocka_unit_test(samples_by_hand),
		cmocka_unit_test(values_by_their_full_names),
		cmocka_unit_test(states_of_the_thread),
		cmocka_unit_test(a_finished_tracker_holds_no_descriptor),
		cmocka_unit_test(calls_without_a_tracker_have_no_effect),
		cmocka_unit_test(errors_of_opening),
		cmocka_unit_test(selection_keeps_only_the_wanted_metrics),
		cmocka_unit_test(totals_are_those_of_wait4),
		cmocka_unit_test(opening_without_settings),
		cmocka_unit_test(calls_about_the_job_need_one),
		cmocka_unit_test(settings_need_a_name_and_a_value),
		cmocka_unit_test(a_status_that_was_told_is_recorded),
		cmocka_unit_test(one_shot_readers),
		cmocka_unit_test(structs_carry_their_size),
		cmocka_unit_test(metrics_have_names),
		cmocka_unit_test(partitions_are_those_of_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
