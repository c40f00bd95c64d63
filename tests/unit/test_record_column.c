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
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
