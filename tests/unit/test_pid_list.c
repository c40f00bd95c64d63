/* Tests of src/kernel/pid_list.c and of src/kernel/proc_pid_children.c, which reads such a list. */
#include "kernel.h"

#include "kernel/pid_list.h"
#include "kernel/proc_pid_children.h"

static void assert_pids(struct scan text, const char *wanted)
{
	char found[256] = "";
	size_t length = 0;
	pid_t pid;

	while (scan_pid(&text, &pid))
		length += (size_t)snprintf(found + length, sizeof found - length, "%d ", (int)pid);
	assert_string_equal(found, wanted);
}

static void blanks_and_newlines_separate(void **state)
{
	static const char CHILDREN[] = "4217 4218 4301 ", PROCS[] = "1\n0\n77\n";

	(void)state;
	assert_pids(scan_bytes(CHILDREN, strlen(CHILDREN)), "4217 4218 4301 ");
	assert_pids(scan_bytes(PROCS, strlen(PROCS)), "1 0 77 ");
	assert_pids(scan_bytes("", 0), "");
	assert_pids(scan_bytes("42", 2), "42 ");
}

static void words_other_than_pids_are_skipped(void **state)
{
	static const char ODD[] = "x 1 -2 2147483648 2147483647 3x 99999999999999999999 4";

	(void)state;
	assert_pids(scan_bytes(ODD, strlen(ODD)), "1 2147483647 4 ");
}

static void children_of_each_thread_are_read(void **state)
{
	struct root root = test_root("hand-made-cgroup2-6.6/t0");
	struct scan children;

	(void)state;
	assert_int_equal(read_proc_pid_children(&root, 100, 100, &children), 0);
	assert_pids(children, "101 102 106 ");
	assert_int_equal(read_proc_pid_children(&root, 102, 102, &children), 0);
	assert_pids(children, "");
	assert_int_equal(read_proc_pid_children(&root, 102, 105, &children), 0);
	assert_pids(children, "103 ");
	assert_int_equal(read_proc_pid_children(&root, 102, 104, &children), -ENOENT);
	root_close(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_and_newlines_separate),
		cmocka_unit_test(words_other_than_pids_are_skipped),
		cmocka_unit_test(children_of_each_thread_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
