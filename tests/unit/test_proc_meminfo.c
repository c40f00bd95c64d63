/* Tests of src/kernel/proc_meminfo.c. */
#include "kernel.h"

#include "kernel/proc_meminfo.h"

static void a_workstations_file_is_read(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	struct kept_file file = KEPT_FILE("proc/meminfo");
	struct proc_meminfo meminfo;

	(void)state;
	assert_int_equal(read_proc_meminfo(&root, &file, &meminfo), 0);
	assert_int_equal(meminfo.total_kib, 32780920);
	assert_int_equal(meminfo.free_kib, 9123440);
	assert_int_equal(meminfo.available_kib, 22123440);
	assert_int_equal(meminfo.buffers_kib, 81264);
	assert_int_equal(meminfo.cached_kib, 2513904);
	assert_int_equal(meminfo.active_kib, 3200140);
	assert_int_equal(meminfo.inactive_kib, 2110372);
	assert_int_equal(meminfo.swap_total_kib, 2097148);
	assert_int_equal(meminfo.swap_free_kib, 2097148);
	assert_int_equal(meminfo.shmem_kib, 51200);
	assert_int_equal(meminfo.slab_reclaimable_kib, 210332);
	kept_file_close(&file);
	root_close(&root);
}

static void old_kernels_have_no_available(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0");
	struct kept_file file = KEPT_FILE("proc/meminfo");
	struct proc_meminfo meminfo;

	(void)state;
	assert_int_equal(read_proc_meminfo(&root, &file, &meminfo), 0);
	assert_int_equal(meminfo.available_kib, -1);
	assert_int_equal(meminfo.total_kib, 3881692);
	kept_file_close(&file);
	root_close(&root);
}

static void nothing_known_is_an_error(void **state)
{
	struct proc_meminfo meminfo = {.total_kib = 7};

	(void)state;
	assert_int_equal(parse_proc_meminfo("MemTotal\nrubbish: 7\n", 20, &meminfo), -EBADMSG);
	assert_int_equal(meminfo.total_kib, 7);
	assert_int_equal(parse_proc_meminfo("", 0, &meminfo), -EBADMSG);
}

static void lines_that_only_begin_alike_are_others(void **state)
{
	static const char TEXT[] = "Active(anon): 1 kB\nActive: 2 kB\nSwapCached: 3 kB\nCached: 4 kB\n";
	struct proc_meminfo meminfo;

	(void)state;
	assert_int_equal(parse_proc_meminfo(TEXT, strlen(TEXT), &meminfo), 0);
	assert_int_equal(meminfo.active_kib, 2);
	assert_int_equal(meminfo.cached_kib, 4);
	assert_int_equal(meminfo.total_kib, -1);
}

static void a_size_that_no_machine_has_is_absent(void **state)
{
	static const char TEXT[] =
		"MemTotal: 4194304 kB\nSwapTotal: 18014398509481983 kB\nSwapFree: 9007199254740988 kB\n";
	struct proc_meminfo meminfo;

	(void)state;
	assert_int_equal(parse_proc_meminfo(TEXT, strlen(TEXT), &meminfo), 0);
	assert_int_equal(meminfo.total_kib, 4194304);
	assert_int_equal(meminfo.swap_total_kib, -1);
	assert_int_equal(meminfo.swap_free_kib, -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workstations_file_is_read),
		cmocka_unit_test(old_kernels_have_no_available),
		cmocka_unit_test(nothing_known_is_an_error),
		cmocka_unit_test(lines_that_only_begin_alike_are_others),
		cmocka_unit_test(a_size_that_no_machine_has_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
