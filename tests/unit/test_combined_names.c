/* The columns of the machine beside those of the process, as get_combined_metrics() of the Python package names and scales them. */
#include "scratch.h"

#include <errno.h>

#include "resource_tracker_internal.h"

static const char *const PATHS[] = {"run.jsonl"};

static void write_samples(void)
{
	char text[2048] = "";

	for (int i = 0; i < 4; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "{\"timestamp\":%d.5,\"elapsed_secs\":%d,\"sample\":%d,\"memory\":{\"used_mib\":%d},"
			 "\"cpu\":{\"process_memory_mib\":2,\"process_cores_used\":0.5,\"process_count\":7}}"
			 "\n",
			 10 + i, i, i, 100 + i);
	put_text(PATHS[0], text);
}

static rt_table *read_combined(const struct rt_combined_options *options)
{
	rt_table *table = NULL;
	struct rt_problem problem;

	write_samples();
	assert_int_equal(rt_table_read_combined(PATHS, 1, options, &table, &problem), 0);
	assert_int_equal(rt_table_column_count(table), 32);
	return table;
}

static double value_of(const rt_table *table, const char *name, size_t row)
{
	ssize_t column = rt_table_find(table, name);
	double value = -1;

	assert_true(column >= 0);
	assert_true(rt_table_real(table, (size_t)column, row, &value));
	return value;
}

static void rows_may_be_skipped(void **state)
{
	static const struct rt_combined_options NONE = {.size = sizeof NONE},
						TWO = {.size = sizeof TWO, .offset = 2},
						MANY = {.size = sizeof MANY, .offset = SIZE_MAX},
						ONE = {.size = sizeof ONE, .offset = 1};
	rt_table *table = read_combined(&NONE);

	(void)state;
	assert_int_equal(rt_table_row_count(table), 4);
	assert_true(value_of(table, "system_memory_used_mib", 0) == 100);
	rt_table_free(table);
	table = read_combined(&ONE);
	assert_int_equal(rt_table_row_count(table), 3);
	assert_true(value_of(table, "system_memory_used_mib", 0) == 101 &&
		    value_of(table, "system_memory_used_mib", 2) == 103);
	rt_table_free(table);
	table = read_combined(&TWO);
	assert_int_equal(rt_table_row_count(table), 2);
	assert_true(value_of(table, "system_memory_used_mib", 1) == 103);
	rt_table_free(table);
	table = read_combined(&MANY);
	assert_int_equal(rt_table_row_count(table), 0);
	rt_table_free(table);
}

static void sizes_may_be_in_bytes(void **state)
{
	static const struct rt_combined_options BYTES = {.size = sizeof BYTES, .bytes = true};
	rt_table *table = read_combined(&BYTES);

	(void)state;
	assert_true(value_of(table, "system_memory_used_mib", 3) == 103 * 1048576.0);
	assert_true(value_of(table, "process_memory_mib", 0) == 2097152);
	assert_true(value_of(table, "process_cpu_usage", 0) == 0.5);
	rt_table_free(table);
}

static void names_may_be_those_for_people_with_any_prefix(void **state)
{
	static const struct rt_combined_options HUMAN = {.size = sizeof HUMAN, .human_names = true},
						OTHER = {.size = sizeof OTHER,
							 .system_prefix = "",
							 .process_prefix = "job "};
	rt_table *table = read_combined(&HUMAN);

	(void)state;
	assert_string_equal(rt_table_column_name(table, 0), "Timestamp");
	assert_true(value_of(table, "System used memory", 0) == 100);
	assert_true(value_of(table, "Process memory usage", 0) == 2);
	assert_true(value_of(table, "Process CPU usage", 0) == 0.5);
	rt_table_free(table);
	table = read_combined(&OTHER);
	assert_string_equal(rt_table_column_name(table, 0), "timestamp");
	assert_true(value_of(table, "memory_used_mib", 0) == 100);
	assert_true(value_of(table, "job memory_mib", 0) == 2);
	rt_table_free(table);
}

static void unreadable_recordings_have_a_problem(void **state)
{
	static const struct rt_combined_options OLD = {.size = 1};
	struct rt_problem problem = {""};
	rt_table *table = NULL;

	(void)state;
	write_samples();
	assert_int_equal(rt_table_read_combined(PATHS, 1, &OLD, &table, &problem), -EINVAL);
	assert_int_equal(unlink(PATHS[0]), 0);
	assert_int_equal(rt_table_read_combined(PATHS, 1, NULL, &table, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "run.jsonl"));
	assert_null(table);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_may_be_skipped),
		cmocka_unit_test(sizes_may_be_in_bytes),
		cmocka_unit_test(names_may_be_those_for_people_with_any_prefix),
		cmocka_unit_test(unreadable_recordings_have_a_problem),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
