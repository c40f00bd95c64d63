/* Tests of src/base/clock.c. */
#include "unit.h"

#include <time.h>

#include "base/clock.h"

static void the_monotonic_clock_never_steps_back(void **state)
{
	int64_t last = SYSTEM_CLOCKS.monotonic_ns(NULL);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t now = SYSTEM_CLOCKS.monotonic_ns(NULL);

		assert_true(now >= last);
		last = now;
	}
}

static void the_realtime_clock_is_that_of_time(void **state)
{
	int64_t before = (int64_t)time(NULL), now = SYSTEM_CLOCKS.realtime_ns(NULL) / NSEC_PER_SEC;

	(void)state;
	/* time(2) may be a kernel tick late. */
	assert_true(now >= before && now <= (int64_t)time(NULL) + 1);
}

static void poll_is_never_too_early(void **state)
{
	(void)state;
	assert_int_equal(ns_to_poll_msec(0), 0);
	assert_int_equal(ns_to_poll_msec(1), 1);
	assert_int_equal(ns_to_poll_msec(NSEC_PER_MSEC), 1);
	assert_int_equal(ns_to_poll_msec(NSEC_PER_MSEC + 1), 2);
	assert_int_equal(ns_to_poll_msec(90 * NSEC_PER_SEC), 90000);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_monotonic_clock_never_steps_back),
		cmocka_unit_test(the_realtime_clock_is_that_of_time),
		cmocka_unit_test(poll_is_never_too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
