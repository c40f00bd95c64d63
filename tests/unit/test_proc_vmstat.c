/* Tests of src/kernel/proc_vmstat.c. */
#include "kernel.h"

#include "kernel/proc_vmstat.h"

static void one_line_among_many_counts(void **state)
{
	static const char TEXT[] = "nr_free_pages 5743346\noom_kill_x 1\noom_kill 3\ndrop_pagecache 0\n";
	struct proc_vmstat vmstat;

	(void)state;
	assert_int_equal(parse_proc_vmstat(TEXT, strlen(TEXT), &vmstat), 0);
	assert_int_equal(vmstat.oom_kills, 3);
}

static void kernels_before_4_13_do_not_count(void **state)
{
	struct proc_vmstat vmstat = {.oom_kills = 7};

	(void)state;
	assert_int_equal(parse_proc_vmstat("nr_free_pages 5\n", 16, &vmstat), -EBADMSG);
	assert_int_equal(parse_proc_vmstat("", 0, &vmstat), -EBADMSG);
	assert_int_equal(vmstat.oom_kills, 7);
}

/* The file is longer than a page and comes in pieces. The wanted line is behind the first piece. */
static void the_live_file_is_read_to_its_end(void **state)
{
	struct root root;
	struct proc_vmstat vmstat;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	if (root_read(&root, "proc/vmstat") <= 0 || !strstr(root.text.data, "\noom_kill ")) {
		root_close(&root);
		SKIP("this kernel does not count OOM kills");
	}
	assert_int_equal(read_proc_vmstat(&root, &vmstat), 0);
	assert_true(vmstat.oom_kills >= 0);
	root_close(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_among_many_counts),
		cmocka_unit_test(kernels_before_4_13_do_not_count),
		cmocka_unit_test(the_live_file_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
