/* Tests of src/record/column.c: values by name. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/column.h"
#include "record/reader.h"

static char path[] = "/tmp/test_column_XXXXXX";

static struct record *open_text(const char *text)
{
	struct record_options options = {0};
	const char *const paths[] = {path};
	FILE *file = fopen(path, "wb");
	struct record *record = NULL;

	fputs(text, file);
	fclose(file);
	metric_set_add_all(&options.wanted);
	assert_int_equal(record_open(paths, 1, &options, &record, NULL), 0);
	return record;
}

static double value_of(const struct frame *frame, const char *name)
{
	struct metric_place column;
	struct rt_problem problem = {0};

	if (record_column_find(name, &column, &problem) < 0)
		fail_msg("%s", problem.text);
	return record_column_real(&column, frame);
}

static void values_have_names(void **state)
{
	static const char TEXT[] = "{\"timestamp\":5,\"cpu\":{\"per_core_pct\":[1.5,null,4.5],\"process_"
				   "cores_used\":2.25},\"disk\":["
				   "{\"device\":\"sda\",\"read_bytes_per_sec\":10.0,\"mounts\":[{\"mount_"
				   "point\":\"/\",\"used_pct\":1.0}]},"
				   "{\"device\":\"sd]b\",\"read_bytes_per_sec\":20.0,\"mounts\":[{\"mount_"
				   "point\":\"/a.[b]\",\"used_pct\":2.0}]}]}\n";
	struct metric_place column;
	const struct frame *frame;
	struct rt_problem problem;
	struct record *record;

	(void)state;
	record = open_text(TEXT);
	assert_int_equal(record_next(record, &frame), 1);
	assert_true(value_of(frame, "timestamp") == 5);
	assert_true(value_of(frame, "cpu.process_cores_used") == 2.25);
	assert_true(value_of(frame, "process_cpu_usage") == 2.25);
	assert_true(value_of(frame, "process_cores_used") == 2.25);
	assert_true(value_of(frame, "cpu.per_core_pct[2]") == 4.5);
	assert_true(value_of(frame, "cpu.per_core_pct[mean]") == 3);
	assert_true(value_of(frame, "cpu.per_core_pct[max]") == 4.5);
	assert_true(isnan(value_of(frame, "cpu.per_core_pct[1]")));
	assert_true(isnan(value_of(frame, "cpu.per_core_pct[7]")));
	assert_true(value_of(frame, "disk[sda].read_bytes_per_sec") == 10);
	assert_true(value_of(frame, "disk[1].read_bytes_per_sec") == 20);
	assert_true(value_of(frame, "disk[sum].read_bytes_per_sec") == 30);
	assert_true(value_of(frame, "disk[sd]b].mounts[/a.[b]].used_pct") == 2);
	assert_true(value_of(frame, "disk[sda].mounts[0].used_pct") == 1);
	assert_true(isnan(value_of(frame, "disk[sdc].read_bytes_per_sec")));
	assert_int_equal(record_column_find("disk.read_bytes_per_sec", &column, &problem), -EINVAL);
	assert_int_equal(record_column_find("memory[0].used_mib", &column, &problem), -EINVAL);
	assert_int_equal(record_column_find("dropped_samples", &column, &problem), -EINVAL);
	assert_int_equal(record_column_find("proces_cpu_usage", &column, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "the nearest is process_cpu_usage"));
	assert_int_equal(record_column_find("", &column, &problem), -ENOENT);
	record_close(record);
}

static void assert_unknown(const char *name, int error, const char *wanted)
{
	struct metric_place column;
	struct rt_problem problem = {0};

	assert_int_equal(record_column_find(name, &column, &problem), error);
	assert_string_equal(problem.text, wanted);
}

static void a_name_that_fits_no_metric_has_a_reason(void **state)
{
	(void)state;
	assert_unknown("zzzzzzzzzzzzzzzz", -ENOENT,
		       "there is no metric 'zzzzzzzzzzzzzzzz'; resource-tracker metrics lists them");
	assert_unknown("memory.usde_mib", -ENOENT,
		       "there is no metric 'memory.usde_mib'; the nearest is memory.used_mib");
	assert_unknown("system_proceses", -ENOENT,
		       "there is no metric 'system_proceses'; the nearest is system_processes");
	assert_unknown("disk[sda", -ENOENT, "'disk[sda' is not the name of a metric");
	assert_unknown("memory[0].used_mib", -EINVAL,
		       "'memory[0].used_mib': there is only one, leave the brackets out");
	assert_unknown("disk[a].mounts.used_pct", -EINVAL,
		       "'disk[a].mounts.used_pct' needs 2 names in brackets");
	assert_unknown("read_bytes_counter", -ENOENT,
		       "there is no metric 'read_bytes_counter'; the nearest is read_bytes_total");
}

static struct rt_value cell_of(const struct frame *frame, const char *name)
{
	struct metric_place column;

	assert_int_equal(record_column_find(name, &column, NULL), 0);
	return record_column_cell(&column, frame);
}

static void a_cell_has_the_type_of_its_metric(void **state)
{
	struct record *record =
		open_text("{\"timestamp\":5,\"disk\":[{\"device\":\"sda\",\"read_bytes_total\":7},"
			  "{\"device\":\"sdb\",\"read_bytes_total\":9}]}\n");
	const struct frame *frame;
	struct rt_value cell;

	(void)state;
	assert_int_equal(record_next(record, &frame), 1);
	cell = cell_of(frame, "disk[sdb].read_bytes_total");
	assert_true(cell.type == RT_TYPE_COUNT && cell.count == 9);
	cell = cell_of(frame, "disk[1].device");
	assert_true(cell.type == RT_TYPE_TEXT && strcmp(cell.text, "sdb") == 0);
	cell = cell_of(frame, "disk[sum].read_bytes_total");
	assert_true(cell.type == RT_TYPE_REAL && cell.real == 16);
	cell = cell_of(frame, "timestamp");
	assert_true(cell.type == RT_TYPE_REAL && cell.real == 5);
	cell = cell_of(frame, "disk[sdc].read_bytes_total");
	assert_true(cell.type == RT_TYPE_NONE && cell.reason == ABSENT_NOT_COLLECTED);
	cell = cell_of(frame, "disk[max].capacity_bytes");
	assert_true(cell.type == RT_TYPE_NONE && cell.reason == ABSENT_NOT_COLLECTED);
	cell = cell_of(frame, "disk[0].model");
	assert_true(cell.type == RT_TYPE_NONE && cell.reason == ABSENT_NOT_COLLECTED);
	record_close(record);
}

static int make_path(void **state)
{
	(void)state;
	return close(mkstemp(path));
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_names),
		cmocka_unit_test(a_name_that_fits_no_metric_has_a_reason),
		cmocka_unit_test(a_cell_has_the_type_of_its_metric),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
