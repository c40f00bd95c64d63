/* Tests of src/kernel/proc_vmstat.c. */
#include "kernel.h"
#include "scratch.h"

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

static void allocated_pages_of_all_zones_are_added_up(void **state)
{
	struct root root;

	(void)state;
	assert_int_equal(mkdir("proc", 0700), 0);
	assert_int_equal(root_open(&root, scratch_folder, NULL), 0);
	put_text("proc/vmstat",
		 "nr_free_pages 5\npgalloc_dma 0\npgalloc_dma32 40\npgalloc_normal 9000000000\npgfree 3\n");
	assert_true(root_read(&root, "proc/vmstat") > 0);
	assert_int_equal(proc_vmstat_allocated_pages(&root), 9000000040);
	/* A kernel without zones, and a text that breaks off. */
	put_text("proc/vmstat", "nr_free_pages 5\npgfree 3\n");
	assert_true(root_read(&root, "proc/vmstat") > 0);
	assert_int_equal(proc_vmstat_allocated_pages(&root), 0);
	put_text("proc/vmstat", "nr_free_pages 5\npgalloc_dma 4\npgalloc_nor");
	assert_true(root_read(&root, "proc/vmstat") > 0);
	assert_int_equal(proc_vmstat_allocated_pages(&root), 4);
	root_close(&root);
}

/* The count may stand in the first piece of the file, or behind it, or where a piece of a plain file is cut. */
static void the_line_is_found_wherever_it_stands(void **state)
{
	struct kept_file kept = KEPT_FILE("proc/vmstat");
	struct proc_vmstat vmstat;
	struct root root;

	(void)state;
	assert_int_equal(mkdir("proc", 0700), 0);
	for (int lines = 0; lines < 1000; lines += lines < 240 || lines > 260 ? 20 : 1) {
		FILE *file = fopen("proc/vmstat", "w");

		assert_non_null(file);
		for (int i = 0; i < lines; i++)
			assert_int_equal(fprintf(file, "a_counter_%d\n", 10000 + i), 16);
		assert_int_equal(fprintf(file, "oom_kill 1234567\n"), 17);
		assert_int_equal(fclose(file), 0);
		/* A new root has the smallest buffer. */
		assert_int_equal(root_open(&root, scratch_folder, NULL), 0);
		assert_int_equal(read_proc_vmstat(&root, &kept, &vmstat), 0);
		assert_int_equal(vmstat.oom_kills, 1234567);
		kept_file_close(&kept);
		root_close(&root);
	}
}

/* The file is longer than a page and comes in pieces. */
static void the_live_file_is_read_to_its_end(void **state)
{
	struct kept_file kept = KEPT_FILE("proc/vmstat");
	struct root root;
	struct proc_vmstat vmstat;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	if (root_read(&root, "proc/vmstat") <= 0 || !strstr(root.text.data, "\noom_kill ")) {
		root_close(&root);
		SKIP("this kernel does not count OOM kills");
	}
	/* The second time from the descriptor that stayed open. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_proc_vmstat(&root, &kept, &vmstat), 0);
		assert_true(vmstat.oom_kills >= 0);
		assert_true(kept.fd >= 0);
	}
	kept_file_close(&kept);
	root_close(&root);
}

static void a_file_that_is_missing_or_empty_is_an_error(void **state)
{
	struct kept_file kept = KEPT_FILE("proc/vmstat");
	struct proc_vmstat vmstat = {.oom_kills = 7};
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, scratch_folder, NULL), 0);
	assert_int_equal(read_proc_vmstat(&root, &kept, &vmstat), -ENOENT);
	put_below("proc/vmstat", "");
	assert_int_equal(read_proc_vmstat(&root, &kept, &vmstat), -EBADMSG);
	assert_int_equal(vmstat.oom_kills, 7);
	kept_file_close(&kept);
	root_close(&root);
}

static void a_count_without_a_number_ends_the_sum(void **state)
{
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, scratch_folder, NULL), 0);
	put_text("vmstat", "nr_free_pages 5\npgalloc_dma 4\npgalloc_normal x\npgalloc_movable 8\n");
	assert_true(root_read(&root, "vmstat") > 0);
	assert_int_equal(proc_vmstat_allocated_pages(&root), 4);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_among_many_counts),
		cmocka_unit_test(kernels_before_4_13_do_not_count),
		cmocka_unit_test_setup_teardown(allocated_pages_of_all_zones_are_added_up, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(the_line_is_found_wherever_it_stands, scratch_enter,
						scratch_leave),
		cmocka_unit_test(the_live_file_is_read_to_its_end),
		cmocka_unit_test_setup_teardown(a_file_that_is_missing_or_empty_is_an_error, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_count_without_a_number_ends_the_sum, scratch_enter,
						scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
