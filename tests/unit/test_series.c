/* Tests of src/report/series.c: the bytes that the page unpacks, and points of several samples. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "report/series.h"

static struct series series;

static void begin_series(const char *name)
{
	struct rt_problem problem = {0};

	assert_int_equal(series_begin(&series, name, &problem), 0);
}

static void add_point(double value)
{
	series_gather(&series, value, 1);
	series_end_point(&series);
}

static void assert_bytes(const char *wanted, size_t length)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(10000);
	struct json_writer json = JSON_WRITER(&text);

	assert_int_equal(series_write(&series, &json), 0);
	assert_int_equal(series.bytes.length, length);
	assert_memory_equal(series.bytes.data, wanted, length);
	series_done(&series);
}

#define ASSERT_BYTES(wanted) assert_bytes(wanted, sizeof(wanted) - 1)

static void changes_are_zigzag_codes_and_runs_are_counted(void **state)
{
	(void)state;
	begin_series("cpu.process_child_count");
	add_point(1);
	add_point(1);
	add_point(1);
	add_point(NAN);
	add_point(NAN);
	add_point(1);
	add_point(0);
	add_point(63);
	add_point(127);
	/* +1; 2 more; 2 unknown; 1 more; -1; +63 is 127, and +64 is 129, which takes two bytes */
	ASSERT_BYTES("\x03\x01\x02\x00\x02\x01\x01\x02\x7f\x81\x01");
	/* Whole multiples of the last of four decimals. */
	begin_series("cpu.process_cores_used");
	add_point(0.0015);
	ASSERT_BYTES("\x1f");
}

static void values_that_doubles_cannot_hold_are_unknown(void **state)
{
	(void)state;
	begin_series("cpu.process_child_count");
	series_add_absent(&series, 3);
	add_point(9007199254740992.0);
	add_point(INFINITY);
	add_point(2);
	ASSERT_BYTES("\x00\x05\x05");
}

static void a_cleared_series_begins_anew(void **state)
{
	(void)state;
	begin_series("cpu.process_child_count");
	add_point(5);
	add_point(5);
	series_gather(&series, 7, 1);
	series_clear(&series);
	assert_false(series.any);
	add_point(5);
	ASSERT_BYTES("\x0b");
	begin_series("cpu.process_child_count");
	add_point(0);
	assert_true(series.any);
	ASSERT_BYTES("\x01\x01");
}

static double value_of_two(const char *name, double first_secs, double second_secs)
{
	double value;

	begin_series(name);
	series_gather(&series, 4, first_secs);
	series_gather(&series, NAN, 5);
	series_gather(&series, 2, second_secs);
	series_end_point(&series);
	value = (double)series.last / series.scale;
	series_done(&series);
	return value;
}

static void several_samples_of_a_point_count_by_their_kind(void **state)
{
	(void)state;
	assert_true(value_of_two("cpu.process_child_count", 1, 3) == 4);              /* the most */
	assert_true(value_of_two("cpu.process_disk_read_bytes", 1, 3) == 6);          /* the sum */
	assert_true(fabs(value_of_two("cpu.process_cores_used", 1, 3) - 2.5) < 1e-9); /* the mean by time */
	assert_true(fabs(value_of_two("cpu.process_cores_used", 0, 0) - 3) < 1e-9);
	assert_true(fabs(value_of_two("cpu.utilization_pct", 3, 1) - 3.5) < 1e-9);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_zigzag_codes_and_runs_are_counted),
		cmocka_unit_test(values_that_doubles_cannot_hold_are_unknown),
		cmocka_unit_test(a_cleared_series_begins_anew),
		cmocka_unit_test(several_samples_of_a_point_count_by_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
