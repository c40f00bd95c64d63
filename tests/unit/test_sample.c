/*
 * The grid of samples with a clock that steps, stands still and jumps: no burst, nothing negative, true
 * times.
 */
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
		double secs;
		int64_t missed;
		bool asked;
	} ENDS[] = {{0.7, 0, true}, {1, 0, true}, {1.2, 1, true}, {3.5, 3, true}, {3.5, 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
		struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});

		if (ENDS[i].asked) {
			EXPECT_SECS(due_in_secs(tracker), 1.0);
			pass(1);
			assert_non_null(sample_now(tracker));
		}
		pass(ENDS[i].secs);
		assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
		assert_int_equal(tracker->previous->sample->missed_ticks, ENDS[i].missed);
		rt_close(tracker);
	}
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
	tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC, .start_at_ns = NOON_NS - 1});
	EXPECT_SECS(due_in_secs(tracker), 1.0);
	rt_close(tracker);
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
	static const struct {
		double secs_after_tick, cores;
	} ENDS[] = {{0.0008, 2.004 / 1.0008}, {0.7, 1.004 / 0.7}};

	(void)state;
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
		struct rt_tracker *tracker = open_at_noon((struct settings){.interval_ns = NSEC_PER_SEC});
		double total_secs;

		assert_int_equal(rt_track(tracker, 100, false), 0);
		pass(1);
		assert_non_null(sample_now(tracker));
		pass(1);
		assert_non_null(sample_now(tracker));
		pass(ENDS[i].secs_after_tick);
		total_secs = ((struct tree_row *)(void *)tracker->previous->first[ROW_tree])->cpu_total_secs;
		set_cpu_secs(tracker->previous, total_secs - 1.004);
		set_cpu_secs(tracker->window_next, total_secs - 1.004);
		set_cpu_secs(tracker->window, total_secs - 2.004);
		assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
		EXPECT_SECS(
			((struct tree_row *)(void *)tracker->previous->first[ROW_tree])->process_cores_used,
			ENDS[i].cores);
		rt_close(tracker);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_instant_makes_no_own_rate),
		cmocka_unit_test(test_wall_clock_steps),
		cmocka_unit_test(test_suspended_time_does_not_count),
		cmocka_unit_test(test_missed_ticks_are_counted_once),
		cmocka_unit_test(test_ticks_missed_before_the_end_are_counted),
		cmocka_unit_test(test_a_duration_misses_no_tick_at_its_end),
		cmocka_unit_test(test_lateness_does_not_add_up),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_start_at),
		cmocka_unit_test(test_long_intervals_have_an_early_sample),
		cmocka_unit_test(test_duration_ends_without_a_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
