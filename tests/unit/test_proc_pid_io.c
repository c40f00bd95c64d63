/* Tests of src/kernel/proc_pid_io.c. */
#include "kernel.h"

#include "kernel/proc_pid_io.h"

static void every_line_finds_its_field(void **state)
{
	static const char TEXT[] = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
				   "cancelled_write_bytes: 7\n";
	struct proc_pid_io io;

	(void)state;
	assert_int_equal(parse_proc_pid_io(TEXT, strlen(TEXT), &io), 0);
	assert_int_equal(io.read_chars, 1);
	assert_int_equal(io.written_chars, 2);
	assert_int_equal(io.read_calls, 3);
	assert_int_equal(io.write_calls, 4);
	assert_int_equal(io.read_bytes, 5);
	assert_int_equal(io.write_bytes, 6);
	assert_int_equal(io.cancelled_write_bytes, 7);
}

static void kernels_without_storage_accounting_have_fewer_lines(void **state)
{
	struct proc_pid_io io = {.read_chars = 7};

	(void)state;
	assert_int_equal(parse_proc_pid_io("", 0, &io), -EBADMSG);
	assert_int_equal(io.read_chars, 7);
	assert_int_equal(parse_proc_pid_io("rchar: 1\n", 9, &io), 0);
	assert_int_equal(io.read_chars, 1);
	assert_int_equal(io.read_bytes, -1);
}

static void a_file_that_is_denied_or_gone_says_so(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t1");
	struct proc_pid_io io;

	(void)state;
	assert_int_equal(read_proc_pid_io(&root, 100, &io), 0);
	assert_int_equal(io.write_bytes, 28672);
	assert_int_equal(io.cancelled_write_bytes, 4096);
	assert_int_equal(read_proc_pid_io(&root, 103, &io), -ENOENT);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_finds_its_field),
		cmocka_unit_test(kernels_without_storage_accounting_have_fewer_lines),
		cmocka_unit_test(a_file_that_is_denied_or_gone_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
