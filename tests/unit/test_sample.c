/*
 * The grid of samples with a clock that steps, stands still and jumps: no burst, nothing negative, true
 * times.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <resource_tracker.h>

#include "base/clock.h"
#include "metric/typed_rows.h"
#include "tracker/tracker.h"
#include "unit.h"

/* 2026-11-21 12:00:00.3 UTC */
#define NOON_NS (INT64_C(1795262400) * NSEC_PER_SEC + 300 * NSEC_PER_MSEC)

struct settable {
	int64_t monotonic_ns, realtime_ns;
};

static int64_t settable_monotonic_ns(void *context)
{
	return ((struct settable *)context)->monotonic_ns;
}

static int64_t settable_realtime_ns(void *context)
{
	return ((struct settable *)context)->realtime_ns;
}

static struct settable now;

static void pass(double secs)
{
	int64_t ns = (int64_t)(secs * 1e9);

	now.monotonic_ns += ns;
	now.realtime_ns += ns;
}

struct settings {
	int64_t interval_ns, start_at_ns, duration_ns;
	bool align;
};

/* Opens a tracker of a fixture machine. Its baseline is at NOON_NS, by a clock that only pass() moves. */
static struct rt_tracker *open_at_noon(struct settings settings)
{
	struct rt_tracker *tracker;
	rt_config *config;
	char root[512];

	snprintf(root, sizeof root, "%s/firecracker-6.18/t0", getenv("TEST_ROOTS"));
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "root", root), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	rt_config_free(config);
	tracker->config->interval_ns = settings.interval_ns;
	tracker->config->start_at_ns = settings.start_at_ns;
	tracker->config->duration_ns = settings.duration_ns;
	tracker->config->align = settings.align;
	now = (struct settable){tracker->previous->monotonic_ns, NOON_NS};
	tracker->previous->realtime_ns = NOON_NS;
	tracker->root.clocks = (struct clocks){settable_monotonic_ns, settable_realtime_ns, &now};
	tracker_start_grid(tracker);
	return tracker;
}

/* Takes one sample or none: missed ticks are never made up for. */
static const struct sample_row *sample_now(struct rt_tracker *tracker)
{
	if (tracker_sample_due(tracker, now.monotonic_ns) == 0)
		return NULL;
	assert_int_equal(tracker_sample_due(tracker, now.monotonic_ns), 0);
	return tracker->previous->sample;
}

static double due_in_secs(struct rt_tracker *tracker)
{
	return ns_to_secs(rt_next_sample_ns(tracker) - now.monotonic_ns);
}

#define EXPECT_SECS(got, wanted) assert_true((got) > (wanted)-1e-6 && (got) < (wanted) + 1e-6)

static void test_wall_clock_steps(void **state)
{
	static const double STEPS_SECS[] = {3600, -7200, 0.5, -0.5, -1e9, 1e9};
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
	double elapsed_secs = 0;

	(void)state;
	for (size_t i = 0; i < sizeof STEPS_SECS / sizeof STEPS_SECS[0]; i++) {
		const struct sample_row *sample;

		now.realtime_ns += (int64_t)(STEPS_SECS[i] * 1e9);
		EXPECT_SECS(due_in_secs(tracker), 1.0);
		assert_null(sample_now(tracker));
		pass(1);
		sample = sample_now(tracker);
		assert_non_null(sample);
		elapsed_secs += 1;
		EXPECT_SECS(sample->elapsed_secs, elapsed_secs);
		EXPECT_SECS(sample->actual_interval_ms, 1000.0);
		EXPECT_SECS(sample->timestamp - ns_to_secs(now.realtime_ns), 0.0);
		assert_int_equal(sample->missed_ticks, 0);
	}
	rt_close(tracker);
}

static void test_suspended_time_does_not_count(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
	const struct sample_row *sample;

	(void)state;
	pass(0.4);
	/* After a night of suspension, during which the monotonic clock stood still. */
	now.realtime_ns += 8 * 3600 * NSEC_PER_SEC;
	pass(0.6);
	sample = sample_now(tracker);
	assert_non_null(sample);
	EXPECT_SECS(sample->actual_interval_ms, 1000.0);
	assert_int_equal(sample->missed_ticks, 0);
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	rt_close(tracker);
}

static void test_missed_ticks_are_counted_once(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
	const struct sample_row *sample;

	(void)state;
	pass(1);
	assert_non_null(sample_now(tracker));
	/* Stopped for 10.5 s: ticks 2 to 10 passed, the one at 11 s is taken late, and the grid stays. */
	pass(10.5);
	sample = sample_now(tracker);
	assert_non_null(sample);
	assert_int_equal(sample->missed_ticks, 9);
	EXPECT_SECS(sample->actual_interval_ms, 10500.0);
	EXPECT_SECS(due_in_secs(tracker), 0.5);
	pass(0.5);
	sample = sample_now(tracker);
	assert_non_null(sample);
	assert_int_equal(sample->missed_ticks, 0);
	EXPECT_SECS(sample->actual_interval_ms, 500.0);
	rt_close(tracker);
}

/* The tracker was held up until the end. Ticks before the end count as missed, later ones never existed. */
static void test_ticks_missed_before_the_end_are_counted(void **state)
{
	static const struct {
		int64_t after_ns, missed;
		bool asked;
	} ENDS[] = {{700 * NSEC_PER_MSEC, 0, true},  {NSEC_PER_SEC, 0, true},
		    {NSEC_PER_SEC + 1, 1, true},     {3500 * NSEC_PER_MSEC, 3, true},
		    {4 * NSEC_PER_SEC, 3, true},     {4 * NSEC_PER_SEC + 1, 4, true},
		    {3500 * NSEC_PER_MSEC, 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
		struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});

		if (ENDS[i].asked) {
			EXPECT_SECS(due_in_secs(tracker), 1.0);
			pass(1);
			assert_non_null(sample_now(tracker));
		}
		now.monotonic_ns += ENDS[i].after_ns;
		assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
		assert_int_equal(tracker->previous->sample->missed_ticks, ENDS[i].missed);
		assert_int_equal(tracker->context.progress.missed_total, ENDS[i].missed);
		/* Later ones are not due. */
		pass(10);
		assert_int_equal(tracker_sample_due(tracker, now.monotonic_ns), 0);
		rt_close(tracker);
	}
}

static void test_ticks_after_the_end_of_the_job_do_not_exist(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});

	(void)state;
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	tracker->ending.job_ended_ns = now.monotonic_ns + 2500 * NSEC_PER_MSEC;
	pass(9);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(tracker->previous->sample->missed_ticks, 2);
	rt_close(tracker);
}

static void test_a_duration_misses_no_tick_at_its_end(void **state)
{
	struct rt_tracker *tracker =
		open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC, .duration_ns = 2 * NSEC_PER_SEC});

	(void)state;
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	pass(1);
	assert_non_null(sample_now(tracker));
	pass(1.5);
	assert_null(sample_now(tracker));
	assert_int_equal(rt_finish(tracker, RT_END_DURATION, 0), 0);
	assert_int_equal(tracker->previous->sample->missed_ticks, 0);
	rt_close(tracker);
}

static void test_lateness_does_not_add_up(void **state)
{
	enum { TICKS = 2000 };
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_MSEC});
	int64_t first_ns = now.monotonic_ns;

	(void)state;
	for (int i = 0; i < TICKS; i++) {
		/* Each wake-up is a little late. */
		now.monotonic_ns = rt_next_sample_ns(tracker) + 1000 * (i % 300);
		assert_non_null(sample_now(tracker));
	}
	assert_int_equal(rt_next_sample_ns(tracker) - first_ns, (TICKS + 1) * NSEC_PER_MSEC);
	assert_int_equal(tracker->context.progress.missed_total, 0);
	rt_close(tracker);
}

static void test_alignment(void **state)
{
	struct rt_tracker *tracker =
		open_at_noon((struct settings){.interval_ns = 5 * NSEC_PER_SEC, .align = true});

	(void)state;
	/* At noon and 0.3 s: the next multiple within a whole interval. */
	pass(due_in_secs(tracker));
	assert_true(now.realtime_ns % (5 * NSEC_PER_SEC) < 2);
	assert_non_null(sample_now(tracker));
	EXPECT_SECS(due_in_secs(tracker), 5.0);
	rt_close(tracker);
}

static void test_start_at(void **state)
{
	struct rt_tracker *tracker = open_at_noon(
		(struct settings){.interval_ns = NSEC_PER_SEC, .start_at_ns = NOON_NS + 90 * NSEC_PER_SEC});

	(void)state;
	EXPECT_SECS(due_in_secs(tracker), 90.0);
	pass(89);
	assert_null(sample_now(tracker));
	pass(1);
	assert_non_null(sample_now(tracker));
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	rt_close(tracker);
	/* A time in the past means now. */
	for (int64_t i = -1; i <= 0; i++) {
		tracker = open_at_noon(
			(struct settings){.interval_ns = 9 * NSEC_PER_SEC, .start_at_ns = NOON_NS + i});
		EXPECT_SECS(due_in_secs(tracker), 9.0);
		rt_close(tracker);
	}
}

static void test_long_intervals_have_an_early_sample(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = 60 * NSEC_PER_SEC});
	const struct sample_row *sample;

	(void)state;
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	pass(1);
	sample = sample_now(tracker);
	assert_non_null(sample);
	EXPECT_SECS(sample->actual_interval_ms, 1000.0);
	EXPECT_SECS(due_in_secs(tracker), 59.0);
	pass(59);
	sample = sample_now(tracker);
	EXPECT_SECS(sample->actual_interval_ms, 59000.0);
	EXPECT_SECS(due_in_secs(tracker), 60.0);
	rt_close(tracker);
	tracker = open_at_noon((struct settings){.interval_ns = 10 * NSEC_PER_SEC});
	EXPECT_SECS(due_in_secs(tracker), 10.0);
	rt_close(tracker);
}

/* Where the first sample comes within a second, or at a time that the user has chosen, it is the early one. */
static void test_an_early_sample_is_not_always_needed(void **state)
{
	const int64_t minute_ns = 60 * NSEC_PER_SEC;
	const struct {
		struct settings settings;
		double first_secs;
		bool early;
	} CASES[] = {
		/* Noon was 0.3 s ago. */
		{{.interval_ns = 20 * NSEC_PER_SEC, .align = true}, 1, true},
		{{.interval_ns = minute_ns, .start_at_ns = NOON_NS}, 1, true},
		{{.interval_ns = minute_ns, .start_at_ns = NOON_NS + 90 * NSEC_PER_SEC}, 90, false},
		{{.interval_ns = 11 * NSEC_PER_SEC, .start_at_ns = NOON_NS + NSEC_PER_SEC / 2}, 0.5, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct rt_tracker *tracker = open_at_noon(CASES[i].settings);

		assert_int_equal(tracker->early_sample_due, CASES[i].early);
		EXPECT_SECS(due_in_secs(tracker), CASES[i].first_secs);
		pass(CASES[i].first_secs);
		assert_int_equal(rt_sample_due(tracker), 1);
		assert_int_equal(rt_sample_due(tracker), 0);
		assert_false(tracker->early_sample_due);
		if (!CASES[i].early)
			EXPECT_SECS(due_in_secs(tracker), ns_to_secs(CASES[i].settings.interval_ns));
		rt_close(tracker);
	}
}

/* A grid that begins in a second or less by the clock of the machine has no early sample. */
static void test_an_aligned_grid_may_begin_at_once(void **state)
{
	struct rt_tracker *tracker =
		open_at_noon((struct settings){.interval_ns = 20 * NSEC_PER_SEC, .align = true});

	(void)state;
	for (int64_t left_ns = NSEC_PER_SEC - 1; left_ns <= NSEC_PER_SEC + 1; left_ns++) {
		tracker->previous->realtime_ns = NOON_NS - 300 * NSEC_PER_MSEC - left_ns;
		tracker_start_grid(tracker);
		assert_int_equal(tracker->first_due_ns - tracker->previous->monotonic_ns, left_ns);
		assert_int_equal(tracker->early_sample_due, left_ns > NSEC_PER_SEC);
	}
	rt_close(tracker);
}

/* The tracker was held up for a minute: one sample stands for the early one and for the tick. */
static void test_a_late_early_sample_is_that_of_the_tick(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = 60 * NSEC_PER_SEC});

	(void)state;
	pass(60);
	assert_int_equal(rt_sample_due(tracker), 1);
	assert_int_equal(rt_sample_due(tracker), 0);
	EXPECT_SECS(due_in_secs(tracker), 60.0);
	rt_close(tracker);
}

/* Between samples, collectors that have asked for it get a call at their time. */
static void test_collectors_are_attended_at_their_time(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
	int64_t at_ns = now.monotonic_ns + 1000;

	(void)state;
	tracker->context.attend_ns = at_ns;
	assert_int_equal(rt_next_sample_ns(tracker), at_ns);
	assert_int_equal(tracker_sample_due(tracker, at_ns - 1), 0);
	assert_int_equal(tracker->context.attend_ns, at_ns);
	assert_int_equal(tracker_sample_due(tracker, at_ns), 0);
	assert_true(tracker->context.attend_ns > at_ns);
	assert_int_equal(tracker->sample_count, 0);
	rt_close(tracker);
}

static void test_duration_ends_without_a_tick(void **state)
{
	struct rt_tracker *tracker = open_at_noon(
		(struct settings){.interval_ns = NSEC_PER_SEC, .duration_ns = 2500 * NSEC_PER_MSEC});

	(void)state;
	pass(1);
	assert_non_null(sample_now(tracker));
	pass(1);
	assert_non_null(sample_now(tracker));
	EXPECT_SECS(due_in_secs(tracker), 0.5);
	assert_false(rt_over(tracker, NULL));
	pass(0.5);
	assert_null(sample_now(tracker));
	assert_true(rt_over(tracker, NULL));
	rt_close(tracker);
}

/* Pretends that the tree has used that much CPU time until a frame. */
static void set_cpu_secs(const struct frame *frame, double secs)
{
	((struct tree_row *)(void *)frame->first[ROW_tree])->cpu_total_secs = secs;
}

static void test_the_last_instant_makes_no_own_rate(void **state)
{
	/* 1 s of CPU time in the interval before the last one, and 4 ms in that. */
	static const struct {
		int64_t interval_msecs, last_usecs;
		bool own;
	} ENDS[] = {{1000, 800, false},   {1000, 99999, false}, {1000, 100000, true},
		    {1000, 200000, true}, {1000, 700000, true}, {100, 49999, false},
		    {100, 50000, true},   {100, 99000, true},   {160, 70000, false}};

	(void)state;
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
		double interval_secs = (double)ENDS[i].interval_msecs / 1e3,
		       last_secs = (double)ENDS[i].last_usecs / 1e6, total_secs, cores;
		struct rt_tracker *tracker = open_at_noon(
			(struct settings){.interval_ns = ENDS[i].interval_msecs * NSEC_PER_MSEC});

		assert_int_equal(rt_track(tracker, 100, false), 0);
		for (int sample = 0; sample < 2; sample++) {
			now.monotonic_ns += ENDS[i].interval_msecs * NSEC_PER_MSEC;
			assert_non_null(sample_now(tracker));
		}
		now.monotonic_ns += ENDS[i].last_usecs * 1000;
		total_secs = ((struct tree_row *)(void *)tracker->previous->first[ROW_tree])->cpu_total_secs;
		set_cpu_secs(tracker->previous, total_secs - 0.004);
		set_cpu_secs(tracker->window_next, total_secs - 0.004);
		set_cpu_secs(tracker->window, total_secs - 0.014);
		assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
		cores = ((struct tree_row *)(void *)tracker->previous->first[ROW_tree])->process_cores_used;
		if (fabs(cores - (ENDS[i].own ? 0.004 / last_secs : 0.014 / (interval_secs + last_secs))) >
		    1e-4)
			fail_msg("%d ms: %.6f cores", (int)(ENDS[i].last_usecs / 1000), cores);
		rt_close(tracker);
	}
}

/* Rates of the machine look back 100 ms at least, however short the interval is. */
static void test_a_window_of_rates_has_a_tenth_of_a_second(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_MSEC});
	static const struct {
		int msecs, window_msecs, next_msecs; /* since the baseline */
	} SAMPLES[] = {{99, 0, 0}, {100, 0, 100}, {199, 0, 100}, {200, 100, 200}, {500, 200, 500}};
	int64_t begin_ns = now.monotonic_ns;

	(void)state;
	for (size_t i = 0; i < sizeof SAMPLES / sizeof SAMPLES[0]; i++) {
		now.monotonic_ns = begin_ns + SAMPLES[i].msecs * NSEC_PER_MSEC;
		assert_int_equal(rt_sample(tracker), 0);
		assert_int_equal(tracker->previous->monotonic_ns, now.monotonic_ns);
		assert_int_equal(tracker->window->monotonic_ns - begin_ns,
				 SAMPLES[i].window_msecs * NSEC_PER_MSEC);
		assert_int_equal(tracker->window_next->monotonic_ns - begin_ns,
				 SAMPLES[i].next_msecs * NSEC_PER_MSEC);
	}
	rt_close(tracker);
}

static struct network_row *network_of(const struct frame *frame)
{
	return (struct network_row *)(void *)frame->first[ROW_network];
}

static void test_a_rate_takes_the_newest_window_that_is_long_enough(void **state)
{
	static const struct {
		int64_t usecs;
		double bytes_per_sec;
	} LAST[] = {{99999, 5000 / 0.199999}, {100000, 1000 / 0.1}, {400000, 1000 / 0.4}};

	(void)state;
	for (size_t i = 0; i < sizeof LAST / sizeof LAST[0]; i++) {
		struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
		int64_t received;

		pass(0.1);
		assert_int_equal(rt_sample(tracker), 0);
		received = network_of(tracker->window_next)->rx_bytes_counter;
		network_of(tracker->window_next)->rx_bytes_counter = received - 1000;
		network_of(tracker->window)->rx_bytes_counter = received - 5000;
		/* The baseline was read by the real clock. */
		network_of(tracker->window)->row.read_ns = 0;
		now.monotonic_ns += LAST[i].usecs * 1000;
		assert_int_equal(rt_sample(tracker), 0);
		if (fabs(network_of(tracker->previous)->rx_bytes_per_sec - LAST[i].bytes_per_sec) > 0.06)
			fail_msg("%f bytes/s", network_of(tracker->previous)->rx_bytes_per_sec);
		rt_close(tracker);
	}
}

/* The process that streams is the tracker's own. */
static void test_helpers_are_counted(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});

	(void)state;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(tracker->context.helper_count, 0);
	assert_int_equal(tracker->context.helper_cpu_ns, 0);
	tracker->streaming.pid = 1;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(tracker->context.helper_count, 1);
	rt_close(tracker);
}

/* Figures from before the first sample are its past, and in none of the samples. */
static void test_a_baseline_is_not_published(void **state)
{
	struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});

	(void)state;
	assert_null(tracker_newest(tracker));
	pass(1);
	tracker->context.progress.missed = 5;
	assert_int_equal(tracker_take_sample(tracker, true), 0);
	assert_int_equal(tracker->previous->monotonic_ns, now.monotonic_ns);
	assert_true(tracker->context.progress.baseline && tracker->context.progress.missed == 0);
	assert_int_equal(tracker->sample_count, 0);
	assert_null(tracker_newest(tracker));
	pass(1);
	assert_int_equal(tracker_take_sample(tracker, false), 0);
	assert_false(tracker->context.progress.baseline);
	assert_int_equal(tracker->context.progress.previous_ns, now.monotonic_ns - NSEC_PER_SEC);
	assert_ptr_equal(tracker_newest(tracker), tracker->previous);
	rt_close(tracker);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_instant_makes_no_own_rate),
		cmocka_unit_test(test_wall_clock_steps),
		cmocka_unit_test(test_suspended_time_does_not_count),
		cmocka_unit_test(test_missed_ticks_are_counted_once),
		cmocka_unit_test(test_ticks_missed_before_the_end_are_counted),
		cmocka_unit_test(test_ticks_after_the_end_of_the_job_do_not_exist),
		cmocka_unit_test(test_a_duration_misses_no_tick_at_its_end),
		cmocka_unit_test(test_lateness_does_not_add_up),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_start_at),
		cmocka_unit_test(test_long_intervals_have_an_early_sample),
		cmocka_unit_test(test_an_early_sample_is_not_always_needed),
		cmocka_unit_test(test_an_aligned_grid_may_begin_at_once),
		cmocka_unit_test(test_a_late_early_sample_is_that_of_the_tick),
		cmocka_unit_test(test_collectors_are_attended_at_their_time),
		cmocka_unit_test(test_a_window_of_rates_has_a_tenth_of_a_second),
		cmocka_unit_test(test_a_rate_takes_the_newest_window_that_is_long_enough),
		cmocka_unit_test(test_helpers_are_counted),
		cmocka_unit_test(test_a_baseline_is_not_published),
		cmocka_unit_test(test_duration_ends_without_a_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
