/*
 * One tracker and several threads, by calls that resource_tracker.h allows. The thread sanitiser's build
 * reports data shared without a lock; every build checks that values stay whole.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "scratch.h"

#include "resource_tracker.h"

enum { READERS = 3, ROUNDS = 20, SAMPLES = 12, INTERFACES = 4000 };

static rt_tracker *open_tracker(const char *const *settings)
{
	rt_config *config;
	rt_tracker *tracker = NULL;

	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "interval", "0.001"), 0);
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	assert_int_equal(rt_config_set_history(config, 1000, NULL), 0);
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
	rt_config_free(config);
	return tracker;
}

/* Gives the machine one network interface, with another name in each sample. */
static void put_interface(int number)
{
	char text[400];

	snprintf(text, sizeof text,
		 "Inter-|   Receive                                                |  Transmit\n"
		 " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
		 "drop fifo "
		 "colls carrier compressed\n"
		 "  eth%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n",
		 number);
	put_text("proc/net/dev", text);
}

static rt_tracker *open_small_machine(void)
{
	assert_int_equal(mkdir("proc", 0777), 0);
	assert_int_equal(mkdir("proc/net", 0777), 0);
	put_interface(100);
	return open_tracker(
		(const char *const[]){"root", ".", "no-process", "1", "metrics", "network", NULL});
}

/* Frames are reused in turn, so a frame's text is overwritten some samples later. */
static void text_of_a_value_stays_while_samples_are_taken(void **state)
{
	rt_tracker *tracker = open_small_machine();
	rt_metric interface = rt_metric_find("network.interface");
	struct rt_value values[SAMPLES] = {0};

	(void)state;
	for (int i = 0; i < SAMPLES; i++) {
		put_interface(i);
		assert_int_equal(rt_sample(tracker), 0);
		assert_int_equal(rt_get(tracker, interface, 0, &values[i]), 0);
	}
	for (int i = 0; i < SAMPLES; i++) {
		char name[20];

		snprintf(name, sizeof name, "eth%d", i);
		assert_string_equal(values[i].text, name);
	}
	rt_close(tracker);
}

/* An emulator that shows another machine's root folder has no /proc in it. */
static bool emulated(void)
{
	return getenv("TEST_UNDER") && strcmp(getenv("TEST_UNDER"), "emulator") == 0;
}

struct shared {
	rt_tracker *tracker;
	rt_marks *marks;
	_Atomic int torn; /* texts that changed during the read */
};

/* Reads for some samples, without a call that would order this thread's reads after the other's writes. */
static void read_slowly(struct shared *shared, const char *text)
{
	char copy[256];

	snprintf(copy, sizeof copy, "%s", text);
	usleep(1000);
	shared->torn += strncmp(copy, text, sizeof copy - 1) != 0;
}

static void read_values(struct shared *shared)
{
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		struct rt_value value;

		if (rt_get(shared->tracker, metric, 0, &value) < 0)
			continue;
		if (value.type == RT_TYPE_NONE)
			(void)rt_reason(value.reason);
		else if (value.type == RT_TYPE_TEXT)
			read_slowly(shared, value.text);
	}
}

static void read_the_rest(struct shared *shared)
{
	rt_tracker *tracker = shared->tracker;
	enum rt_end_reason reason;
	double values[64];
	char *text = NULL, warning[200];
	rt_snapshot *snapshot = NULL;
	int64_t first = 0;
	size_t bytes;

	if (rt_sample_json(tracker, &text) == 0)
		free(text);
	if (rt_explain_absent(tracker, &text) == 0)
		free(text);
	if (rt_snapshot_take(tracker, &snapshot) == 0)
		rt_snapshot_free(snapshot);
	(void)rt_next_warning(tracker, warning, sizeof warning);
	(void)rt_history_count(tracker, &first, &bytes);
	(void)rt_history_read(tracker, "process", "memory_mib", first, 64, values);
	(void)rt_history_read(tracker, NULL, "memory.used_mib", first, 64, values);
	(void)rt_sample_count(tracker);
	(void)rt_get_state(tracker);
	(void)rt_over(tracker, &reason);
	(void)rt_next_sample_ns(tracker);
	(void)rt_sample(tracker);
	(void)rt_sample_due(tracker);
	(void)rt_output_path(tracker, 0);
	(void)rt_wait_for_upload(tracker, 0);
	(void)rt_track_in_cgroup(tracker, 1);
	(void)rt_add_signal(tracker, 10, 1);
	(void)rt_before_reap(tracker, 1);
	(void)rt_mark_stop(shared->marks, "part", rt_mark_start(shared->marks, "part"));
	(void)rt_wait_for_samples(tracker, rt_sample_count(tracker) + 1, 0.01);
}

static void *reader(void *shared)
{
	for (int i = 0; i < ROUNDS; i++) {
		read_values(shared);
		read_the_rest(shared);
	}
	return NULL;
}

static void threads_may_share_a_tracker(void **state)
{
	char pid[24];
	const char *const settings[] = {"job-name", "threads", emulated() ? NULL : "pid", pid, NULL};
	struct shared shared = {.tracker = NULL};
	pthread_t readers[READERS];
	char path[] = "/tmp/rt-marks-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	shared.tracker = open_tracker(settings);
	assert_int_equal(rt_marks_open(path, &shared.marks), 0);
	assert_int_equal(rt_start(shared.tracker), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, reader, &shared), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	assert_int_equal(rt_stop(shared.tracker), 0);
	assert_int_equal(shared.torn, 0);
	rt_close(shared.tracker);
	rt_marks_close(shared.marks);
	close(fd);
	unlink(path);
}

/* Gives the machine so many network interfaces that a sample takes longer than a millisecond. */
static void put_many_interfaces(void)
{
	FILE *file = fopen("proc/net/dev", "w");

	assert_non_null(file);
	fputs("Inter-|   Receive                                                |  Transmit\n"
	      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
	      "fifo "
	      "colls carrier compressed\n",
	      file);
	for (int i = 0; i < INTERFACES; i++)
		fprintf(file, "  eth%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", i);
	assert_int_equal(fclose(file), 0);
}

/* Each sample is late for the next tick, so the sampling thread never waits for a tick. */
static void callers_get_in_although_samples_take_longer_than_the_interval(void **state)
{
	enum { CALLS = 50 };
	rt_tracker *tracker = open_small_machine();
	int64_t before;

	(void)state;
	put_many_interfaces();
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_wait_for_samples(tracker, 3, -1), 0);
	before = rt_sample_count(tracker);
	for (int i = 0; i < CALLS; i++)
		assert_true(rt_sample_count(tracker) >= before);
	/* A call waits for one sample, or for a few if its thread gets no CPU in the meantime. */
	assert_true(rt_sample_count(tracker) - before <= 10 * CALLS);
	assert_int_equal(rt_stop(tracker), 0);
	rt_close(tracker);
}

static void *whole_life(void *text)
{
	for (int i = 0; i < 5; i++) {
		rt_tracker *tracker = NULL;
		struct rt_value value;

		if (rt_open(NULL, &tracker) < 0 || rt_start(tracker) < 0 || rt_stop(tracker) < 0)
			return text;
		if (rt_get(tracker, rt_metric_find("host"), 0, &value) < 0 || value.type == RT_TYPE_NONE)
			return text;
		rt_close(tracker);
	}
	return NULL;
}

static void trackers_in_different_threads_are_independent(void **state)
{
	pthread_t threads[READERS];

	(void)state;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, whole_life, (void *)(uintptr_t) "failed"),
				 0);
	for (int i = 0; i < READERS; i++) {
		void *problem;

		assert_int_equal(pthread_join(threads[i], &problem), 0);
		assert_null(problem);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(text_of_a_value_stays_while_samples_are_taken),
		cmocka_unit_test(threads_may_share_a_tracker),
		unit_test_in_scratch(callers_get_in_although_samples_take_longer_than_the_interval),
		cmocka_unit_test(trackers_in_different_threads_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
