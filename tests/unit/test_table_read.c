/* Tests of src/table/table_read.c: the samples of a recording as a table. */
#include "scratch.h"

#include <errno.h>

#include "resource_tracker_internal.h"

static const char *const PATHS[] = {"run"};

static rt_table *table;
static struct rt_problem problem;

static int end(void **state)
{
	rt_table_free(table);
	table = NULL;
	return scratch_leave(state);
}

static int read_columns(const char *const *columns, size_t count)
{
	rt_table_free(table);
	table = NULL;
	problem.text[0] = '\0';
	return rt_table_read_record(PATHS, 1, columns, count, &table, &problem);
}

static double real_at(size_t column, size_t row)
{
	struct rt_value value = rt_table_get(table, column, row);

	assert_int_equal(value.type, RT_TYPE_REAL);
	return value.real;
}

#define SAMPLE(time, number, cores, memory) \
	"{\"timestamp\":" #time ",\"sample\":" #number ",\"cpu\":{\"process_cores_used\":" #cores \
	",\"process_memory_mib\":" #memory "}}\n"

static void rows_are_the_samples_of_the_last_run(void **state)
{
	static const char *const COLUMNS[] = {"cpu.process_memory_mib", "cpu.process_cores_used"};

	(void)state;
	put_text("run", SAMPLE(10, 0, 1.5, 100) SAMPLE(11, 1, 2.5, 200));
	assert_int_equal(read_columns(COLUMNS, 2), 0);
	assert_int_equal(rt_table_row_count(table), 2);
	assert_int_equal(rt_table_column_count(table), 2);
	assert_true(real_at(0, 0) == 100 && real_at(1, 0) == 1.5 && real_at(0, 1) == 200 &&
		    real_at(1, 1) == 2.5);
	put_text("run", SAMPLE(10, 0, 1.5, 100) SAMPLE(11, 1, 2.5, 200) SAMPLE(20, 0, 3.5, 300));
	assert_int_equal(read_columns(COLUMNS, 2), 0);
	assert_int_equal(rt_table_row_count(table), 1);
	assert_int_equal(rt_table_column_count(table), 2);
	assert_true(real_at(0, 0) == 300 && real_at(1, 0) == 3.5);
}

static void without_names_all_columns_of_csv_are_there(void **state)
{
	(void)state;
	put_text("run", SAMPLE(10, 0, 1.5, 100));
	assert_int_equal(read_columns(NULL, 0), 0);
	assert_true(rt_table_column_count(table) > 20);
	assert_int_equal(rt_table_row_count(table), 1);
	assert_true(rt_table_find(table, "timestamp") >= 0);
	assert_true(real_at((size_t)rt_table_find(table, "timestamp"), 0) == 10);
}

static void columns_that_are_none_are_told(void **state)
{
	static const char *const TWICE[] = {"cpu.process_memory_mib", "cpu.process_memory_mib"},
				 *const WRONG[] = {"coffee"};

	(void)state;
	put_text("run", SAMPLE(10, 0, 1.5, 100));
	assert_true(read_columns(TWICE, 2) < 0);
	assert_string_equal(problem.text, "a column was named twice");
	assert_true(read_columns(WRONG, 1) < 0);
	assert_non_null(strstr(problem.text, "coffee"));
	unlink("run");
	assert_int_equal(read_columns(TWICE, 1), -ENOENT);
	assert_null(table);
}

#define READ_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_enter, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		READ_TEST(rows_are_the_samples_of_the_last_run),
		READ_TEST(without_names_all_columns_of_csv_are_there),
		READ_TEST(columns_that_are_none_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
