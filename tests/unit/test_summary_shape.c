/* The shape of a value over time, compared with sums done by hand. */
#include "unit.h"

#include <math.h>

#include "summary/shape.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 0.02 * expected + 1e-9))
		fail_msg("%g is not %g", value, expected);
}

static void two_cores_half_of_the_time_are_not_one_core(void **state)
{
	struct shape shape = {0};

	(void)state;
	for (int i = 0; i < 100; i++)
		shape_add(&shape, 0.3, i % 2 ? 2.0 : 0.0);
	assert_near(shape_quantile(&shape, 0.99), 2);
	assert_near(shape_quantile(&shape, 0.49), 0);
	assert_near(shape_share_above(&shape, 1.5), 0.5);
	assert_near(shape_stretch(&shape, 1), 1.5);
	assert_near(shape_stretch(&shape, 2), 1);
	assert_near(shape_cap(&shape, 1.05), 2 / 1.1);
	assert_near(shape.busiest, 1);
}

static void a_moment_counts_as_a_moment(void **state)
{
	struct shape shape = {0};

	(void)state;
	shape_add(&shape, 10, 1);
	shape_add(&shape, 0.001, 50);
	assert_near(shape_quantile(&shape, 0.99), 1);
	assert_near(shape_stretch(&shape, 1), 1 + 0.049 / 10);
}

static void the_busiest_ten_seconds_are_found_at_any_interval(void **state)
{
	const double LENGTHS[] = {0.001, 0.1, 0.9, 1, 5};

	(void)state;
	for (size_t i = 0; i < sizeof(LENGTHS) / sizeof(LENGTHS[0]); i++) {
		struct shape shape = {0};

		for (double at = 0; at < 120; at += LENGTHS[i])
			shape_add(&shape, LENGTHS[i], at >= 40 && at < 55 ? 4 : 1);
		assert_near(shape.busiest, 4);
	}
}

static void a_long_sample_is_a_window_and_a_short_run_has_none(void **state)
{
	struct shape shape = {0};

	(void)state;
	shape_add(&shape, 9.5, 3);
	assert_true(shape.busiest == 0);
	shape = (struct shape){0};
	shape_add(&shape, 60, 1);
	shape_add(&shape, 60, 7);
	shape_add(&shape, 60, 1);
	assert_near(shape.busiest, 7);
}

static void an_empty_shape_is_nan_and_bad_values_are_passed_over(void **state)
{
	struct shape shape = {0};

	(void)state;
	shape_add(&shape, 0, 1);
	shape_add(&shape, -1, 1);
	shape_add(&shape, 1, (double)NAN);
	shape_add(&shape, 1, -2);
	shape_add(&shape, 1, (double)INFINITY);
	assert_true(isnan(shape_quantile(&shape, 0.5)) && isnan(shape_stretch(&shape, 1)));
	assert_true(isnan(shape_share_above(&shape, 1)) && isnan(shape_cap(&shape, 1.05)));
	shape_add(&shape, 1, 1e300);
	assert_true(shape_quantile(&shape, 0.5) == 1e300);
}

static void merged_shapes_are_those_of_both_times(void **state)
{
	struct shape one = {0}, other = {0};

	(void)state;
	shape_add(&one, 30, 1);
	shape_add(&other, 10, 4);
	shape_add(&other, 10, 4);
	shape_merge(&one, &other);
	assert_near(one.total_secs, 50);
	assert_near(one.busiest, 4);
	assert_near(shape_share_above(&one, 2), 0.4);
	assert_near(shape_stretch(&one, 2), (30 + 40) / 50.0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_cores_half_of_the_time_are_not_one_core),
		cmocka_unit_test(a_moment_counts_as_a_moment),
		cmocka_unit_test(the_busiest_ten_seconds_are_found_at_any_interval),
		cmocka_unit_test(a_long_sample_is_a_window_and_a_short_run_has_none),
		cmocka_unit_test(an_empty_shape_is_nan_and_bad_values_are_passed_over),
		cmocka_unit_test(merged_shapes_are_those_of_both_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
