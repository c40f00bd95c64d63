/* Tests of src/kernel/proc_pressure.c. */
#include "kernel.h"

#include "kernel/proc_pressure.h"

static int parse(const char *text, struct proc_pressure *pressure)
{
	return parse_proc_pressure(text, strlen(text), pressure);
}

static void both_lines_are_read(void **state)
{
	struct proc_pressure pressure;

	(void)state;
	assert_int_equal(parse("some avg10=0.25 avg60=1.27 avg300=99.34 total=4026532\n"
			       "full avg10=0.00 avg60=0.91 avg300=0.25 total=3019899\n",
			       &pressure),
			 0);
	assert_int_equal(pressure.some_usec, 4026532);
	assert_int_equal(pressure.full_usec, 3019899);
}

static void a_missing_line_is_absent(void **state)
{
	struct proc_pressure pressure;

	(void)state;
	assert_int_equal(parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", &pressure), 0);
	assert_int_equal(pressure.some_usec, 5);
	assert_int_equal(pressure.full_usec, -1);
}

static void odd_pairs_lose_only_themselves(void **state)
{
	struct proc_pressure pressure = {.some_usec = 7};

	(void)state;
	assert_int_equal(parse("", &pressure), -EBADMSG);
	assert_int_equal(parse("most avg10=1\nsome\nsome x=1 total=\n", &pressure), -EBADMSG);
	assert_int_equal(pressure.some_usec, 7);
	assert_int_equal(parse("some avg10=x avg60 total=99999999999999999999 avg300=1\n", &pressure),
			 -EBADMSG);
	assert_int_equal(parse("some subtotal=1 avg10=total=3  total=x\nsomething total=4\nfull avg60 "
			       "total=9 total=8\n",
			       &pressure),
			 0);
	assert_int_equal(pressure.some_usec, -1);
	assert_int_equal(pressure.full_usec, 9);
}

static void parse_any(const char *bytes, size_t length)
{
	struct proc_pressure pressure;

	(void)parse_proc_pressure(bytes, length, &pressure);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("some avg10=0.25 avg60=1.27 avg300=99.34 total=4026532\nfull avg10=0.00 total=1\n",
		    parse_any);
}

static void hosts_and_groups_are_read(void **state)
{
	struct root root = test_root("hand-made-cgroup2-6.6/t0");
	struct kept_file file = KEPT_FILE("proc/pressure/io");
	struct proc_pressure pressure;

	(void)state;
	assert_int_equal(read_proc_pressure(&root, &file, &pressure), 0);
	assert_int_equal(pressure.some_usec, 58000);
	kept_file_close(&file);
	assert_int_equal(
		read_cgroup_pressure(&root, root.dir_fd, "sys/fs/cgroup/user.slice/io.pressure", &pressure),
		0);
	assert_int_equal(pressure.some_usec, 72000);
	root_close(&root);
	root = test_root("hand-made-vm-3.10/t0");
	assert_int_equal(read_proc_pressure(&root, &file, &pressure), -ENOENT);
	root_close(&root);
}

static void counts_have_their_most(void **state)
{
	struct proc_pressure pressure;

	(void)state;
	assert_int_equal(parse("\nfull total=9223372036854775807\nsome total=9223372036854775808 avg60=3\n",
			       &pressure),
			 0);
	assert_true(pressure.full_usec == INT64_MAX);
	assert_int_equal(pressure.some_usec, -1);
	assert_int_equal(parse("full avg10=1\n", &pressure), -EBADMSG);
	assert_int_equal(parse("full totax=1 total=8\n", &pressure), 0);
	assert_int_equal(pressure.full_usec, 8);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_lines_are_read),
		cmocka_unit_test(a_missing_line_is_absent),
		cmocka_unit_test(odd_pairs_lose_only_themselves),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(hosts_and_groups_are_read),
		cmocka_unit_test(counts_have_their_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
