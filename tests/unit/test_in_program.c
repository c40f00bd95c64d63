/*
 * A tracker inside a program that does its own work: sampling does not count as the program's cost, forked
 * children do not touch the tracker, and there may be several trackers.
 */
#include "scratch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "resource_tracker.h"

static rt_tracker *open_tracker(const char *const *settings)
{
	rt_config *config;
	rt_tracker *tracker = NULL;
	char pid[24];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "pid", pid), 0);
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	assert_int_equal(rt_config_set_history(config, INT64_MAX, "cpu.process_*,tracker"), 0);
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
	rt_config_free(config);
	return tracker;
}

#define OPEN(...) open_tracker((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static double sum_of(rt_tracker *tracker, const char *metric)
{
	static double values[100000];
	ssize_t count = rt_history_read(tracker, NULL, metric, 0, 100000, values);
	double sum = 0;

	assert_true(count > 0);
	for (ssize_t i = 0; i < count; i++)
		if (values[i] == values[i])
			sum += values[i];
	return sum;
}

static double newest(rt_tracker *tracker, const char *metric)
{
	struct rt_value value;

	assert_int_equal(rt_get(tracker, rt_metric_find(metric), 0, &value), 0);
	assert_int_not_equal(value.type, RT_TYPE_NONE);
	return value.type == RT_TYPE_REAL ? value.real : (double)value.count;
}

static double thread_secs(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double process_secs(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* Two thousand samples have a measurable cost, and the program's figures do not include it. */
static void sampling_costs_the_program_nothing(void **state)
{
	NEEDS_THE_KERNEL_ITSELF();
	rt_tracker *tracker = OPEN("interval", "0.001");
	double began = thread_secs(), all_began = process_secs(), work, all, told, cost, threads;
	pthread_t other;

	(void)state;
	/* A sanitiser starts its own thread together with the first one. */
	assert_int_equal(pthread_create(&other, NULL, do_nothing, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(rt_sample(tracker), 0);
	threads = newest(tracker, "cpu.process_thread_count");
	assert_int_equal(rt_start(tracker), 0);
	while (thread_secs() < began + 0.25)
		continue;
	/* Sometimes the program only waits for samples. */
	assert_int_equal(rt_wait_for_samples(tracker, 2000, 100), 0);
	assert_int_equal(rt_stop(tracker), 0);
	work = thread_secs() - began;
	all = process_secs() - all_began;
	told = sum_of(tracker, "cpu.process_utime_secs") + sum_of(tracker, "cpu.process_stime_secs");
	cost = sum_of(tracker, "tracker.cpu_secs");
	if (!(cost > 0.02 && cost < all - work + 0.02))
		fail_msg("the thread used %.4f s and says %.4f s", all - work, cost);
	if (!(told > work - 0.01 && told < work + 0.01 + 0.05 * cost))
		fail_msg("told %.4f s of %.4f s; sampling used %.4f s", told, work, cost);
	assert_true(sum_of(tracker, "cpu.process_read_chars") < 100000);
	assert_true(newest(tracker, "cpu.process_thread_count") == threads);
	rt_close(tracker);
}

static void sampling_by_hand_costs_nothing_either(void **state)
{
	NEEDS_THE_KERNEL_ITSELF();
	rt_tracker *tracker = OPEN("metrics", "cpu,tracker");
	double began = process_secs(), told, all;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(rt_sample(tracker), 0);
	all = process_secs() - began;
	told = sum_of(tracker, "cpu.process_utime_secs") + sum_of(tracker, "cpu.process_stime_secs");
	if (!(told < 0.25 * all))
		fail_msg("told %.4f s of %.4f s, in which nothing but sampling was done", told, all);
	assert_true(sum_of(tracker, "tracker.cpu_secs") > 0.8 * all);
	rt_close(tracker);
}

/* The program's children count, including those from before the tracker; our helpers do not. */
static void children_from_before_count(void **state)
{
	NEEDS_THE_KERNEL_ITSELF();
	pid_t child = fork();
	rt_tracker *tracker;

	(void)state;
	if (child == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	tracker = OPEN("no-system", "1");
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(newest(tracker, "cpu.process_child_count"), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(newest(tracker, "cpu.process_child_count"), 0);
	rt_close(tracker);
}

/* Returns 0 if every call notices that this process is not the tracker's. */
static int use_in_child(rt_tracker *tracker)
{
	struct rt_value value;
	double number;
	char *json;

	if (rt_sample(tracker) != -ECHILD || rt_start(tracker) != -ECHILD || rt_stop(tracker) != -ECHILD ||
	    rt_finish(tracker, RT_END_TRACKER_STOPPED, 0) != -ECHILD || rt_sample_due(tracker) != -ECHILD)
		return 1;
	if (rt_get(tracker, rt_metric_find("timestamp"), 0, &value) != -ECHILD ||
	    rt_sample_json(tracker, &json) != -ECHILD || rt_sample_count(tracker) != -ECHILD ||
	    rt_wait_for_samples(tracker, 1000000, -1) != -ECHILD)
		return 2;
	if (rt_history_count(tracker, NULL, NULL) != -ECHILD ||
	    rt_history_read(tracker, NULL, "timestamp", 0, 1, &number) != -ECHILD)
		return 3;
	if (rt_get_state(tracker) != RT_STATE_STOPPED || !rt_over(tracker, NULL) ||
	    rt_next_sample_ns(tracker) != INT64_MAX)
		return 4;
	if (rt_wait_for_upload(tracker, 0) != -ECHILD || rt_track_in_cgroup(tracker, 1) != -ECHILD)
		return 5;
	rt_close(tracker);
	return 0;
}

static void expect_child_is_well(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* Forks at any moment, even in the middle of a sample or of a write to the file. */
static void forked_children_leave_it_alone(void **state)
{
	NEEDS_THE_KERNEL_ITSELF();
	rt_tracker *tracker = OPEN("interval", "0.001", "output", "run.jsonl");
	rt_config *config;
	rt_tracker *other = NULL;
	int64_t samples;
	char *text;

	(void)state;
	assert_int_equal(rt_start(tracker), 0);
	for (int i = 0; i < 60; i++) {
		pid_t child = fork();

		if (child == 0) {
			alarm(60);
			_exit(use_in_child(tracker));
		}
		expect_child_is_well(child);
	}
	/* A child's copy of the descriptor does not keep the lock. */
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "output", "run.jsonl"), 0);
	assert_int_equal(rt_open(config, &other), -EBUSY);
	rt_config_free(config);
	assert_int_equal(rt_wait_for_samples(tracker, 50, 60), 0);
	assert_int_equal(rt_stop(tracker), 0);
	samples = rt_sample_count(tracker);
	rt_close(tracker);
	text = get_file("run.jsonl", NULL);
	assert_int_equal(count_of(text, "\n"), samples);
	assert_int_equal(count_of(text, "\"run_end\":{"), 1);
	free(text);
}

static void several_at_once(void **state)
{
	rt_tracker *trackers[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		trackers[i] = OPEN("interval", i % 2 ? "0.002" : "0.003", "no-system", i % 2 ? "1" : "0");
		assert_int_equal(rt_start(trackers[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(rt_wait_for_samples(trackers[i], 20, 60), 0);
	assert_int_equal(rt_stop(trackers[2]), 0);
	assert_int_equal(rt_get_state(trackers[2]), RT_STATE_STOPPED);
	assert_int_equal(rt_get_state(trackers[3]), RT_STATE_RUNNING);
	for (int i = 0; i < 4; i++)
		rt_close(trackers[i]);
}

static volatile sig_atomic_t handled;
static volatile pid_t handled_in;

static void on_signal(int number)
{
	(void)number;
	handled_in = (pid_t)syscall(SYS_gettid);
	handled = 1;
}

/* If the program's own thread blocks a signal, it stays pending: the tracker's thread takes no signal. */
static void signals_are_the_program_s(void **state)
{
	rt_tracker *tracker = OPEN("interval", "0.001");
	struct sigaction action = {.sa_handler = on_signal}, before;
	sigset_t one, mask;

	(void)state;
	assert_int_equal(rt_start(tracker), 0);
	sigaction(SIGUSR1, &action, &before);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one, &mask);
	kill(getpid(), SIGUSR1);
	assert_int_equal(rt_wait_for_samples(tracker, rt_sample_count(tracker) + 20, 60), 0);
	assert_false(handled);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	assert_true(handled);
	assert_int_equal(handled_in, getpid());
	sigaction(SIGUSR1, &before, NULL);
	rt_close(tracker);
}

/* Closing joins a thread that has ended by itself. */
static void closing_after_the_duration(void **state)
{
	rt_tracker *tracker = OPEN("interval", "0.01", "duration", "0.05");

	(void)state;
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_wait_for_samples(tracker, 1000000, 60), -ESHUTDOWN);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	rt_close(tracker);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampling_costs_the_program_nothing),
		cmocka_unit_test(sampling_by_hand_costs_nothing_either),
		cmocka_unit_test(children_from_before_count),
		unit_test_in_scratch(forked_children_leave_it_alone),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(signals_are_the_program_s),
		cmocka_unit_test(closing_after_the_duration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
