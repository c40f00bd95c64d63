/* Tests of src/job/signal_at/memory_forecast.c: when a rule about memory is due. */
#include "unit.h"

#include "job/signal_at/memory_forecast.h"

#define LIMIT 1000.0
#define SHARE 0.9

static double full_in_secs;

static bool is_due(const struct memory_forecast *forecast)
{
	return memory_forecast_is_due(forecast, LIMIT, SHARE, &full_in_secs);
}

/* Adds readings up to a time, with a growth in MiB/s, one every `apart_secs`. Returns the last one. */
static double grow(struct memory_forecast *forecast, double from_secs, double to_secs, double apart_secs,
		   double mib, double growth)
{
	double now = mib;

	for (int i = 0; from_secs + i * apart_secs <= to_secs; i++) {
		now = mib + i * apart_secs * growth;
		memory_forecast_add(forecast, (int64_t)((from_secs + i * apart_secs) * 1e9), now);
	}
	return now;
}

static void the_level_alone_is_enough(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	assert_false(is_due(&forecast));
	memory_forecast_add(&forecast, NSEC_PER_SEC, 899);
	assert_false(is_due(&forecast));
	memory_forecast_add(&forecast, 2 * NSEC_PER_SEC, 900);
	assert_true(is_due(&forecast));
	assert_true(full_in_secs < 0);
	assert_false(memory_forecast_is_due(&forecast, 0, SHARE, &full_in_secs));
}

static void growth_that_fills_the_limit_within_a_minute_is_due_below_the_level(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	grow(&forecast, 0, 60, 1, 640, 4);
	assert_true(is_due(&forecast));
	assert_true(full_in_secs > 29.9 && full_in_secs < 30.1);
}

static void growth_that_takes_longer_than_a_minute_is_not_due(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	grow(&forecast, 0, 60, 1, 760, 2);
	assert_true(is_due(&forecast));
	forecast = (struct memory_forecast){.count = 0};
	grow(&forecast, 0, 60, 1, 766, 1.9);
	assert_false(is_due(&forecast));
}

static void memory_far_below_the_level_is_not_due_however_fast_it_grows(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	grow(&forecast, 0, 20, 1, 272, 30);
	assert_false(is_due(&forecast));
	memory_forecast_add(&forecast, 21 * NSEC_PER_SEC, 874);
	assert_true(is_due(&forecast));
}

static void growth_that_has_stopped_or_only_begun_is_not_due(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	grow(&forecast, 0, 40, 1, 640, 6);
	assert_true(is_due(&forecast));
	grow(&forecast, 41, 53, 1, 880, 0);
	assert_false(is_due(&forecast));
	forecast = (struct memory_forecast){.count = 0};
	grow(&forecast, 0, 11, 1, 770, 10);
	assert_false(is_due(&forecast));
}

static void readings_closer_than_a_second_or_a_minute_apart_give_the_same(void **state)
{
	struct memory_forecast forecast = {.count = 0};

	(void)state;
	grow(&forecast, 0, 60, 0.125, 640, 4);
	assert_true(is_due(&forecast));
	assert_true(full_in_secs > 29.9 && full_in_secs < 30.1);
	assert_true(forecast.count <= 62);
	forecast = (struct memory_forecast){.count = 0};
	grow(&forecast, 0, 300, 60, 280, 2);
	assert_true(is_due(&forecast));
	assert_true(full_in_secs > 59.9 && full_in_secs < 60.1);
}

static void a_ring_that_has_come_round_keeps_the_last_minute(void **state)
{
	struct memory_forecast forecast = {.count = 0};
	double mib = grow(&forecast, 0, 1000, 1, 700, 0.1);

	(void)state;
	assert_false(is_due(&forecast));
	grow(&forecast, 1001, 1061, 1, mib, 1.25);
	assert_false(is_due(&forecast));
	grow(&forecast, 1062, 1122, 1, 640, 4);
	assert_true(is_due(&forecast));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_level_alone_is_enough),
		cmocka_unit_test(growth_that_fills_the_limit_within_a_minute_is_due_below_the_level),
		cmocka_unit_test(growth_that_takes_longer_than_a_minute_is_not_due),
		cmocka_unit_test(memory_far_below_the_level_is_not_due_however_fast_it_grows),
		cmocka_unit_test(growth_that_has_stopped_or_only_begun_is_not_due),
		cmocka_unit_test(readings_closer_than_a_second_or_a_minute_apart_give_the_same),
		cmocka_unit_test(a_ring_that_has_come_round_keeps_the_last_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
