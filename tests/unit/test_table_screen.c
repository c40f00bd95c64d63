/* Tables and statistics as a person sees them: columns that are left out, times, units and the note above. */
#include "unit.h"

#include <errno.h>

#include "resource_tracker_internal.h"

enum { COLUMNS_MOST = 4, ROWS = 3 };

static const struct rt_value NONE = {.type = RT_TYPE_NONE};

static struct rt_value real(double value)
{
	return (struct rt_value){.type = RT_TYPE_REAL, .real = value};
}

static struct rt_value count(int64_t value)
{
	return (struct rt_value){.type = RT_TYPE_COUNT, .count = value};
}

static struct rt_value text(const char *value)
{
	return (struct rt_value){.type = RT_TYPE_TEXT, .text = value};
}

static void add_column(rt_table *table, const char *name, struct rt_value first, struct rt_value second,
		       struct rt_value third)
{
	assert_int_equal(
		rt_table_set_column(table, name, (const struct rt_value[]){first, second, third}, ROWS), 0);
}

/* 2024-02-29 23:59:58.126 UTC and later. */
static rt_table *make_table(void)
{
	rt_table *table = rt_table_new();

	assert_non_null(table);
	add_column(table, "timestamp", real(1709251198.126), real(1709251199.999), NONE);
	add_column(table, "process_memory_mib", real(1.5), NONE, real(2048));
	add_column(table, "empty", NONE, real(0), count(0));
	add_column(table, "what", text("a\tb"), text(""), NONE);
	return table;
}

static void try_screen(const rt_table *table, size_t rows, bool leave_out, const char *expected)
{
	char *shown = NULL;

	assert_int_equal(setenv("COLUMNS", "300", 1), 0);
	assert_int_equal(rt_table_for_screen(table, rows, leave_out, -1, "never", &shown), 0);
	unsetenv("COLUMNS");
	assert_string_equal(shown, expected);
	free(shown);
}

static void times_of_a_day_have_the_day_above_them(void **state)
{
	rt_table *table = make_table();

	(void)state;
	try_screen(table, 0, false,
		   "3 rows, 4 columns; times are UTC, on 2024-02-29\n\n"
		   "  timestamp  process_memory_mib  empty  what\n"
		   "23:59:58.13            1.50 MiB      -  a?b\n"
		   "00:00:00.00                   -      0\n"
		   "          -            2.00 GiB      0  -\n");
	rt_table_free(table);
}

static void empty_columns_and_later_rows_are_counted(void **state)
{
	rt_table *table = make_table();

	(void)state;
	try_screen(table, 1, true,
		   "3 rows, 4 columns; the first 1 is shown (--rows 0 shows all); 1 column without a value "
		   "above 0 is left out; "
		   "times are UTC, on 2024-02-29\n\n"
		   "  timestamp  process_memory_mib  what\n"
		   "23:59:58.13            1.50 MiB  a?b\n");
	add_column(table, "what", text(""), NONE, text(""));
	try_screen(table, 2, true,
		   "3 rows, 4 columns; the first 2 are shown (--rows 0 shows all); 2 columns without a value "
		   "above 0 are left out; "
		   "times are UTC, on 2024-02-29\n\n"
		   "  timestamp  process_memory_mib\n"
		   "23:59:58.13            1.50 MiB\n"
		   "00:00:00.00                   -\n");
	rt_table_free(table);
}

static void a_table_that_shows_all_needs_no_note(void **state)
{
	rt_table *table = rt_table_new();

	(void)state;
	add_column(table, "x", count(1), count(-20), real(0.5));
	try_screen(table, 0, true, "   x\n   1\n -20\n0.50\n");
	try_screen(table, 3, true, "   x\n   1\n -20\n0.50\n");
	try_screen(table, 9, false, "   x\n   1\n -20\n0.50\n");
	/* A small number tells a span of time, not a moment. */
	add_column(table, "timestamp", count(1), count(2), count(3));
	try_screen(table, 0, false, "   x  timestamp\n   1     1.00 s\n -20     2.00 s\n0.50     3.00 s\n");
	rt_table_free(table);
	table = rt_table_new();
	try_screen(table, 0, false, "0 rows, 0 columns\n");
	assert_int_equal(rt_table_add_column(table, "x"), 0);
	try_screen(table, 0, true, "0 rows, 1 column\n\nx\n");
	assert_int_equal(rt_table_add_row(table), 0);
	try_screen(table, 0, true, "1 row, 1 column; 1 column without a value above 0 is left out\n");
	rt_table_free(table);
}

static void try_stats(const rt_table *table, bool leave_out, const char *expected)
{
	static const struct rt_stat_spec SPECS[] = {
		{"timestamp", "min", NULL, RT_STAT_NOT_ROUNDED},
		{"timestamp", "duration", NULL, RT_STAT_NOT_ROUNDED},
		{"timestamp", "len", NULL, RT_STAT_NOT_ROUNDED},
		{"process_memory_mib", "mean", NULL, RT_STAT_NOT_ROUNDED},
		{"process_memory_mib", "min", NULL, RT_STAT_NOT_ROUNDED},
		{"process_memory_mib", "len", NULL, RT_STAT_NOT_ROUNDED},
		{"empty", "mean", NULL, RT_STAT_NOT_ROUNDED},
	};
	struct rt_problem problem;
	rt_stats *stats = NULL;
	char *shown = NULL;

	assert_int_equal(rt_stats_of_table(table, SPECS, sizeof SPECS / sizeof SPECS[0], &stats, &problem),
			 0);
	assert_int_equal(setenv("COLUMNS", "300", 1), 0);
	assert_int_equal(rt_stats_for_screen(stats, leave_out, -1, "never", &shown), 0);
	unsetenv("COLUMNS");
	assert_string_equal(shown, expected);
	free(shown);
	rt_stats_free(stats);
}

static void statistics_stand_in_the_column_of_their_name(void **state)
{
	rt_table *table = make_table();

	(void)state;
	try_stats(table, false,
		  "column                              min  duration  len      mean\n"
		  "timestamp           2024-02-29 23:59:58    1.87 s    3\n"
		  "process_memory_mib             1.50 MiB              3  1.00 GiB\n"
		  "empty                                                          0\n");
	try_stats(table, true,
		  "column                              min  duration  len      mean\n"
		  "timestamp           2024-02-29 23:59:58    1.87 s    3\n"
		  "process_memory_mib             1.50 MiB              3  1.00 GiB\n"
		  "1 column without a value above 0 is left out (--json has all)\n");
	rt_table_free(table);
}

static void only_three_words_are_colours(void **state)
{
	rt_table *table = make_table();
	rt_stats *stats = NULL;
	char *shown = NULL;

	(void)state;
	assert_int_equal(rt_table_for_screen(table, 0, false, -1, "red", &shown), -EINVAL);
	assert_int_equal(rt_stats_of_table(table, NULL, 0, &stats, NULL), 0);
	assert_int_equal(rt_stats_for_screen(stats, false, -1, "red", &shown), -EINVAL);
	assert_null(shown);
	rt_stats_free(stats);
	rt_table_free(table);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_a_day_have_the_day_above_them),
		cmocka_unit_test(empty_columns_and_later_rows_are_counted),
		cmocka_unit_test(a_table_that_shows_all_needs_no_note),
		cmocka_unit_test(statistics_stand_in_the_column_of_their_name),
		cmocka_unit_test(only_three_words_are_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
