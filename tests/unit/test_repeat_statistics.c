/* Statistics of repeated runs: series with a known answer. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compare/compare.h"
#include "repeat/repeat_statistics.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

static void the_median_of_an_even_series_lies_between_the_two_in_the_middle(void **state)
{
	(void)state;
	assert_near(median_of_values((const double[]){3, 1, 2}, 3), 2, 0);
	assert_near(median_of_values((const double[]){4, 1, 3, 2}, 4), 2.5, 0);
	assert_true(isnan(median_of_values(NULL, 0)));
}

static void one_run_that_took_long_stands_apart_and_the_others_do_not(void **state)
{
	const double secs[] = {1.00, 1.02, 0.98, 1.01, 0.99, 2.00};
	double scores[6];

	(void)state;
	assert_int_equal(outlier_scores(secs, 6, scores), 0);
	for (size_t i = 0; i < 5; i++)
		assert_true(scores[i] < OUTLIER_SCORE);
	/* The median is 1.005, and the middle distance from it 0.015. */
	assert_near(scores[5], 0.995 / (1.4826 * 0.015), 1e-9);
	assert_int_equal(outlier_scores((const double[]){1, 1, 1, 1, 1}, 5, scores), 0);
	assert_near(scores[0], 0, 0);
}

/* Values of a table of the distribution. */
static void the_confidence_is_that_of_students_distribution(void **state)
{
	(void)state;
	assert_near(student_confidence(12.706, 1), 0.95, 1e-5);
	assert_near(student_confidence(2.571, 5), 0.95, 1e-4);
	assert_near(student_confidence(2.228, 10), 0.95, 1e-4);
	assert_near(student_confidence(3.169, 10), 0.99, 1e-4);
	assert_near(student_confidence(1.960, 1e6), 0.95, 1e-4);
	/* Near the middle, too: half of the probability, and with one degree of freedom a fifth below tan(pi / 10). */
	assert_near(student_confidence(1, 1), 0.5, 1e-12);
	assert_near(student_confidence(tan(acos(-1) / 10), 1), 0.2, 1e-12);
	assert_near(student_confidence(0.7267, 5), 0.5, 1e-4);
	assert_near(student_confidence(0.6998, 10), 0.5, 1e-4);
	assert_near(student_confidence(0, 10), 0, 1e-12);
	assert_near(student_confidence(INFINITY, 10), 1, 0);
}

static void a_ratio_has_the_interval_of_welchs_test(void **state)
{
	/* Ten runs of 2 and ten of 1, both with a deviation of 0.1: the error of the difference is 0.0447, and t is 22.4. */
	const struct side_figure sides[] = {{10, 2, 1.9, 2.1, 0.1, 0}, {10, 1, 0.9, 1.1, 0.1, 0}};
	struct speed_ratio ratio;

	(void)state;
	assert_true(find_speed_ratio(sides, &ratio));
	assert_int_equal(ratio.faster, 1);
	assert_near(ratio.factor, 2, 1e-12);
	assert_near(ratio.deviation, 2 * hypot(0.05, 0.1), 1e-12);
	/* The quantile of 18 degrees of freedom is 2.101. */
	assert_near(ratio.most - 2, 2.101 * 2 * hypot(0.05, 0.1) / sqrt(10), 1e-3);
	assert_near(ratio.least + ratio.most, 4, 1e-9);
	assert_true(ratio.confidence > 0.999999);
}

static void equal_sides_have_no_confidence_and_single_runs_an_unknown_one(void **state)
{
	struct side_figure sides[] = {{5, 1, 0.9, 1.1, 0.1, 0}, {5, 1.01, 0.9, 1.1, 0.1, 0}};
	struct speed_ratio ratio;

	(void)state;
	assert_true(find_speed_ratio(sides, &ratio));
	assert_int_equal(ratio.faster, 0);
	assert_true(ratio.confidence < 0.2 && ratio.least < 1 && ratio.most > 1);
	sides[1].runs = 1;
	sides[1].deviation = NAN;
	assert_true(find_speed_ratio(sides, &ratio));
	assert_true(isnan(ratio.confidence) && isnan(ratio.least));
	sides[1].mean = NAN;
	assert_false(find_speed_ratio(sides, &ratio));
}

static void runs_without_any_scatter_differ_for_sure(void **state)
{
	const struct side_figure sides[] = {{3, 1, 1, 1, 0, 0}, {3, 2, 2, 2, 0, 0}};
	struct speed_ratio ratio;

	(void)state;
	assert_true(find_speed_ratio(sides, &ratio));
	assert_near(ratio.confidence, 1, 0);
	assert_near(ratio.least, 2, 0);
	/* If both sides are equal, the first is called the faster one. */
	assert_true(find_speed_ratio((const struct side_figure[]){sides[0], sides[0]}, &ratio));
	assert_int_equal(ratio.faster, 0);
	assert_near(ratio.confidence, 0, 0);
}

/* 3,000 runs with 40 figures took half a minute, because each unknown value was looked for in all runs again. */
static void figures_that_no_run_has_are_looked_for_once_and_left_out(void **state)
{
	enum { RUNS = 3000, UNKNOWN = 40 };
	static const char *const NAMES[] = {"A", "B"}, *const OUTCOMES[] = {"", ""};
	const size_t runs[] = {RUNS, 0};
	struct compared_value *values = calloc((size_t)RUNS * (UNKNOWN + 1), sizeof(*values));
	char names[UNKNOWN][16];
	rt_comparison *comparison = NULL;
	size_t count = 0;
	clock_t before = clock();

	(void)state;
	assert_non_null(values);
	for (size_t i = 0; i < UNKNOWN; i++)
		snprintf(names[i], sizeof(names[i]), "unknown%zu", i);
	for (size_t run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < UNKNOWN; i++)
			values[count++] =
				(struct compared_value){.name = names[i], .unit = "s", .value = NAN};
		values[count++] =
			(struct compared_value){.name = "wall_time", .unit = "s", .value = (double)run};
	}
	assert_int_equal(compare_values(NAMES, runs, OUTCOMES, values, count, &comparison), 0);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 10);
	assert_int_equal(comparison->count, 1);
	assert_string_equal(comparison->list[0].name, "wall_time");
	assert_near(comparison->list[0].sides[0].mean, (RUNS - 1) / 2.0, 1e-9);
	rt_comparison_free(comparison);
	free(values);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_of_an_even_series_lies_between_the_two_in_the_middle),
		cmocka_unit_test(one_run_that_took_long_stands_apart_and_the_others_do_not),
		cmocka_unit_test(the_confidence_is_that_of_students_distribution),
		cmocka_unit_test(a_ratio_has_the_interval_of_welchs_test),
		cmocka_unit_test(equal_sides_have_no_confidence_and_single_runs_an_unknown_one),
		cmocka_unit_test(runs_without_any_scatter_differ_for_sure),
		cmocka_unit_test(figures_that_no_run_has_are_looked_for_once_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
