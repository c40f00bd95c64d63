/* Tests of src/kernel/proc_loadavg.c. */
#include "kernel.h"

#include <math.h>

#include "kernel/proc_loadavg.h"

static int parse(const char *text, struct proc_loadavg *loadavg)
{
	return parse_proc_loadavg(text, strlen(text), loadavg);
}

static void large_loads_are_taken_whole(void **state)
{
	struct proc_loadavg loadavg;

	(void)state;
	assert_int_equal(parse("1234.52 10000.58 123456.59 2000/81300 11206\n", &loadavg), 0);
	assert_true(loadavg.load_1m == 1234.52);
	assert_true(loadavg.load_5m == 10000.58);
	assert_true(loadavg.load_15m == 123456.59);
	assert_int_equal(loadavg.runnable_count, 2000);
	assert_int_equal(loadavg.thread_count, 81300);
	assert_int_equal(loadavg.last_pid, 11206);
}

static void missing_fields_are_absent(void **state)
{
	struct proc_loadavg loadavg = {.runnable_count = 7};

	(void)state;
	assert_int_equal(parse("", &loadavg), -EBADMSG);
	assert_int_equal(parse("load", &loadavg), -EBADMSG);
	assert_int_equal(loadavg.runnable_count, 7);
	assert_int_equal(parse("0.5 x", &loadavg), 0);
	assert_true(loadavg.load_1m == 0.5);
	assert_true(isnan(loadavg.load_5m));
	assert_true(isnan(loadavg.load_15m));
	assert_int_equal(loadavg.runnable_count, -1);
	assert_int_equal(loadavg.last_pid, -1);
	assert_int_equal(loadavg.thread_count, -1);
}

static void the_fixture_is_read(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t1");
	struct kept_file file = KEPT_FILE("proc/loadavg");
	struct proc_loadavg loadavg;

	(void)state;
	assert_int_equal(read_proc_loadavg(&root, &file, &loadavg), 0);
	assert_true(loadavg.load_1m == 0.53);
	assert_int_equal(loadavg.thread_count, 814);
	kept_file_close(&file);
	root_close(&root);
}

static void numbers_have_their_most(void **state)
{
	struct proc_loadavg loadavg;

	(void)state;
	assert_int_equal(parse("0.5 1 2 9223372036854775807/9223372036854775807 2147483647\n", &loadavg), 0);
	assert_true(loadavg.runnable_count == INT64_MAX && loadavg.thread_count == INT64_MAX);
	assert_int_equal(loadavg.last_pid, INT32_MAX);
	assert_int_equal(parse("0.5 1 2 9223372036854775808/1 2147483648\n", &loadavg), 0);
	assert_true(loadavg.runnable_count == -1 && loadavg.thread_count == -1 && loadavg.last_pid == -1);
	assert_int_equal(parse("0.5 1x 2 1/9223372036854775808 7x\n", &loadavg), 0);
	assert_true(loadavg.runnable_count == -1 && loadavg.thread_count == -1 && loadavg.last_pid == -1);
	assert_true(isnan(loadavg.load_5m) && loadavg.load_15m == 2);
	assert_int_equal(parse("0.5 1 2 1;2 7\n", &loadavg), 0);
	assert_true(loadavg.runnable_count == -1 && loadavg.last_pid == 7);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_loads_are_taken_whole),
		cmocka_unit_test(missing_fields_are_absent),
		cmocka_unit_test(the_fixture_is_read),
		cmocka_unit_test(numbers_have_their_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
