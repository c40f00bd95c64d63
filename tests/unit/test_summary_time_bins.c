/* Tests of src/summary/time_bins.c, src/table/units.c and src/compat/gpu_tracker_units.c, which summaries use. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "summary/time_bins.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "compat/gpu_tracker_units.h"

static void assert_columns(const struct time_bins *history, double total_secs, bool maximum,
			   const double *expected, size_t count)
{
	double values[8];

	time_bins_columns(history, total_secs, maximum, values, count);
	for (size_t i = 0; i < count; i++)
		if (isnan(expected[i]) ? !isnan(values[i]) : !(fabs(values[i] - expected[i]) < 1e-9))
			fail_msg("column %zu is %g, not %g", i, values[i], expected[i]);
}

static void a_course_is_cut_into_columns(void **state)
{
	struct time_bins history = {0};
	const double means[] = {1, 3, 3, 5}, whole[] = {3}, most[] = {3, 5};

	(void)state;
	time_bins_add(&history, 1, 1, 1);
	time_bins_add(&history, 3, 2, 3);
	time_bins_add(&history, 4, 1, 5);
	assert_columns(&history, 4, false, means, 4);
	assert_columns(&history, 4, false, whole, 1);
	assert_columns(&history, 4, true, most, 2);
}

static void gaps_are_nothing(void **state)
{
	struct time_bins history = {0};
	const double values[] = {2, NAN, NAN, 4}, none[] = {NAN, NAN};

	(void)state;
	assert_columns(&history, 0, false, none, 2);
	time_bins_add(&history, 1, 1, 2);
	time_bins_add(&history, 2, 1, NAN);
	time_bins_add(&history, NAN, 1, 7);
	time_bins_add(&history, 3, 0, 7);
	time_bins_add(&history, 4, 1, 4);
	assert_columns(&history, 4, false, values, 4);
}

/* From milliseconds to weeks: the number of bins stays, their width doubles. */
static void a_long_run_takes_no_more_room(void **state)
{
	struct time_bins history = {0};
	double halves[2];
	int64_t secs = 1000000;

	(void)state;
	time_bins_add(&history, 0.001, 0.001, 1);
	for (int64_t i = 1; i <= secs; i++)
		time_bins_add(&history, (double)i, 1, i <= secs / 2 ? 1 : 2);
	assert_true(history.count <= TIME_BINS);
	for (size_t i = 0; i < history.count; i++)
		assert_true(history.bins[i].most == 1 || history.bins[i].most == 2);
	/* One span of time crosses the middle. */
	time_bins_columns(&history, (double)secs, false, halves, 2);
	assert_true(fabs(halves[0] - 1) < 0.01 && fabs(halves[1] - 2) < 0.01);
}

static void assert_written(void (*add)(struct buffer *, double), double value, const char *expected)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(100);

	add(&out, value);
	assert_string_equal(out.data, expected);
}

static void durations_are_told_as_people_tell_them(void **state)
{
	(void)state;
	assert_written(add_duration, 0.0031, "3.10 ms");
	assert_written(add_duration, 0.0999, "0.10 s");
	assert_written(add_duration, 12.34, "12.3 s");
	assert_written(add_duration, 59.96, "1 min");
	assert_written(add_duration, 100, "1 min 40 s");
	assert_written(add_duration, 7200, "2 h");
	assert_written(add_duration, 86399, "23 h 59 min");
	assert_written(add_duration, 3.2 * 86400, "3 d 4 h");
}

static void add_automatic_size(struct buffer *out, double bytes)
{
	add_size(out, bytes, RT_SIZE_AUTO);
}

static void add_megabytes(struct buffer *out, double bytes)
{
	add_size(out, bytes, RT_SIZE_MB);
}

static void sizes_take_the_unit_that_fits(void **state)
{
	(void)state;
	assert_written(add_automatic_size, 0, "0");
	assert_written(add_automatic_size, 512, "512 B");
	assert_written(add_automatic_size, 1024, "1.00 KiB");
	assert_written(add_automatic_size, 1048575, "1.00 MiB");
	assert_written(add_automatic_size, 130.0 * (1 << 20), "130 MiB");
	assert_written(add_automatic_size, 2.5 * (1 << 30), "2.50 GiB");
	assert_written(add_automatic_size, 1e18, "909495 TiB");
	assert_written(add_megabytes, 1234567, "1.23 MB");
}

static void figures_have_three_digits_that_matter(void **state)
{
	(void)state;
	assert_written(add_figure, 0, "0");
	assert_written(add_figure, 0.0001, "< 0.001");
	assert_written(add_figure, 0.031, "0.031");
	assert_written(add_figure, 2.394, "2.39");
	assert_written(add_figure, 17.46, "17.5");
	assert_written(add_figure, 1200.4, "1200");
}

static void sparklines_show_the_measured_values(void **state)
{
	const double values[] = {0, NAN, 1, 4, 8, 9};
	CLEANUP_BUFFER struct buffer out = BUFFER(100), flat = BUFFER(100);

	(void)state;
	add_sparkline(&out, values, 6, 8);
	assert_string_equal(out.data, "▁ ▁▄██");
	add_sparkline(&flat, values, 2, 0);
	assert_string_equal(flat.data, "▁ ");
}

static void units_of_gpu_tracker_are_decimal(void **state)
{
	const struct rt_gpu_tracker_options usual = {0},
					    chosen = {.ram_unit = "megabytes",
						      .gpu_ram_unit = "bytes",
						      .time_unit = "days"},
					    wrong = {.ram_unit = "mib"};
	struct gpu_tracker_units units;
	struct rt_problem problem;

	(void)state;
	assert_int_equal(gpu_tracker_units_find(&usual, &units, NULL), 0);
	assert_true(units.ram.factor == 1e-9 && units.gpu_ram.factor == 1e-9 &&
		    units.time.factor == 1.0 / 3600);
	assert_int_equal(gpu_tracker_units_find(&chosen, &units, NULL), 0);
	assert_true(units.ram.factor == 1e-6 && units.gpu_ram.factor == 1 &&
		    units.time.factor == 1.0 / 86400);
	assert_int_equal(gpu_tracker_units_find(&wrong, &units, &problem), -EINVAL);
	assert_string_equal(
		problem.text,
		"'mib' is not a unit; there are bytes, gigabytes, kilobytes, megabytes, terabytes");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_course_is_cut_into_columns),
		cmocka_unit_test(gaps_are_nothing),
		cmocka_unit_test(a_long_run_takes_no_more_room),
		cmocka_unit_test(durations_are_told_as_people_tell_them),
		cmocka_unit_test(sizes_take_the_unit_that_fits),
		cmocka_unit_test(figures_have_three_digits_that_matter),
		cmocka_unit_test(sparklines_show_the_measured_values),
		cmocka_unit_test(units_of_gpu_tracker_are_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
