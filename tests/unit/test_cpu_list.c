/* Tests of src/kernel/cpu_list.c. */
#include "kernel.h"

#include "kernel/cpu_list.h"

static int64_t count(const char *text)
{
	int64_t cpus = -7;
	int error = parse_cpu_list(text, strlen(text), &cpus);

	if (error < 0)
		assert_int_equal(cpus, -7);
	return error < 0 ? error : cpus;
}

static void lists_are_counted(void **state)
{
	(void)state;
	assert_int_equal(count("0\n"), 1);
	assert_int_equal(count("0-3"), 4);
	assert_int_equal(count("0-3,8,10-15\n"), 11);
	assert_int_equal(count("0-4,6-76,78-127,1024-1153\n"), 256);
	assert_int_equal(count("\n"), 0);
	assert_int_equal(count(""), 0);
}

static void parse_cpu_list_refuses_other_texts(void **state)
{
	(void)state;
	assert_int_equal(count("0-"), -EBADMSG);
	assert_int_equal(count("3-1"), -EBADMSG);
	assert_int_equal(count("a-b"), -EBADMSG);
	assert_int_equal(count("0-99999999999"), -EBADMSG);
	assert_int_equal(count("0-2147483647,0-2147483647"), -EBADMSG);
	assert_int_equal(count("0;1"), -EBADMSG);
}

static void ranges_come_one_by_one(void **state)
{
	struct scan list = scan_bytes("2-3,6", 5);
	uint32_t first, last;

	(void)state;
	assert_true(scan_cpu_range(&list, &first, &last));
	assert_int_equal(first, 2);
	assert_int_equal(last, 3);
	assert_true(scan_cpu_range(&list, &first, &last));
	assert_int_equal(first, 6);
	assert_int_equal(last, 6);
	assert_false(scan_cpu_range(&list, &first, &last));
}

static void sysfs_lists_are_read(void **state)
{
	struct root root = test_root("hand-made-altra-256cpu-6.8/t2");
	int64_t cpus;

	(void)state;
	assert_int_equal(read_cpu_list(&root, root.dir_fd, "sys/devices/system/cpu/online", &cpus), 0);
	assert_int_equal(cpus, 255);
	assert_int_equal(read_cpu_list(&root, root.dir_fd, "sys/nothing", &cpus), -ENOENT);
	root_close(&root);
}

static void the_largest_list_has_as_many_cpus_as_a_number_counts(void **state)
{
	uint32_t first = 7, last = 8;
	struct scan list = scan_bytes("2147483647", 10);

	(void)state;
	assert_int_equal(count("1-2147483647"), INT32_MAX);
	assert_int_equal(count("0-2147483647"), -EBADMSG);
	assert_int_equal(count("5-5"), 1);
	assert_int_equal(count("2147483648"), -EBADMSG);
	assert_true(scan_cpu_range(&list, &first, &last));
	assert_true(first == INT32_MAX && last == INT32_MAX);
	list = scan_bytes("9-8", 3);
	assert_false(scan_cpu_range(&list, &first, &last));
	assert_int_equal(scan_left(&list), 3);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_counted),
		cmocka_unit_test(parse_cpu_list_refuses_other_texts),
		cmocka_unit_test(ranges_come_one_by_one),
		cmocka_unit_test(sysfs_lists_are_read),
		cmocka_unit_test(the_largest_list_has_as_many_cpus_as_a_number_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
