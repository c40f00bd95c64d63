/* Tests of src/kernel/proc_pid_smaps_rollup.c. */
#include "kernel.h"

#include "kernel/proc_pid_smaps_rollup.h"

static const char ROLLUP[] =
	"55b5401e2000-7ffe6248e000 ---p 00000000 00:00 0                          [rollup]\n"
	"Rss:                1728 kB\nPss:                 394 kB\nPss_Dirty:           112 kB\n"
	"Pss_Anon:            112 kB\nPss_File:            282 kB\nPss_Shmem:             0 kB\n"
	"Shared_Clean:       1540 kB\nShared_Dirty:          1 kB\nPrivate_Clean:        76 kB\n"
	"Private_Dirty:       112 kB\nAnonHugePages:      2048 kB\nSwap:                  9 kB\n"
	"SwapPss:               8 kB\n";

static const char SMAPS[] =
	"00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/Rss: 9\n"
	"Size:                328 kB\nRss:                 100 kB\nPss:                  50 kB\n"
	"Shared_Clean:        100 kB\nPrivate_Dirty:         0 kB\nVmFlags: rd ex mr mw me dw\n"
	"7ffd2f000000-7ffd2f021000 rw-p 00000000 00:00 0           [stack]\n"
	"Size:                132 kB\nRss:                  24 kB\nPss:                  24 kB\n"
	"Shared_Clean:          0 kB\nPrivate_Dirty:        24 kB\nVmFlags: rd wr mr mw me\n";

static void every_line_finds_its_field(void **state)
{
	struct proc_pid_smaps_rollup rollup;

	(void)state;
	assert_int_equal(parse_proc_pid_smaps_rollup(ROLLUP, strlen(ROLLUP), &rollup), 0);
	assert_int_equal(rollup.rss_kib, 1728);
	assert_int_equal(rollup.pss_kib, 394);
	assert_int_equal(rollup.pss_anon_kib, 112);
	assert_int_equal(rollup.pss_file_kib, 282);
	assert_int_equal(rollup.pss_shmem_kib, 0);
	assert_int_equal(rollup.shared_clean_kib, 1540);
	assert_int_equal(rollup.shared_dirty_kib, 1);
	assert_int_equal(rollup.private_clean_kib, 76);
	assert_int_equal(rollup.private_dirty_kib, 112);
	assert_int_equal(rollup.anon_huge_kib, 2048);
	assert_int_equal(rollup.swap_kib, 9);
	assert_int_equal(rollup.swap_pss_kib, 8);
	assert_int_equal(rollup.file_huge_kib, -1);
	assert_int_equal(rollup.private_hugetlb_kib, -1);
}

static void mappings_of_smaps_add_up(void **state)
{
	struct proc_pid_smaps_rollup rollup;

	(void)state;
	assert_int_equal(parse_proc_pid_smaps_rollup(SMAPS, strlen(SMAPS), &rollup), 0);
	assert_int_equal(rollup.rss_kib, 124);
	assert_int_equal(rollup.pss_kib, 74);
	assert_int_equal(rollup.shared_clean_kib, 100);
	assert_int_equal(rollup.private_dirty_kib, 24);
	assert_int_equal(rollup.pss_anon_kib, -1);
}

static void an_empty_file_is_an_error(void **state)
{
	struct proc_pid_smaps_rollup rollup = {.pss_kib = 7};

	(void)state;
	assert_int_equal(parse_proc_pid_smaps_rollup("", 0, &rollup), -EBADMSG);
	assert_int_equal(parse_proc_pid_smaps_rollup(ROLLUP, 60, &rollup), -EBADMSG);
	assert_int_equal(rollup.pss_kib, 7);
}

static void old_kernels_and_zombies_have_none(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0");
	struct proc_pid_smaps_rollup rollup;

	(void)state;
	assert_int_equal(read_proc_pid_smaps_rollup(&root, 100, &rollup), -ENOENT);
	root_close(&root);
	root = test_root("hand-made-workstation-6.1/t0");
	assert_int_equal(read_proc_pid_smaps_rollup(&root, 106, &rollup), -ENOENT);
	assert_int_equal(read_proc_pid_smaps_rollup(&root, 101, &rollup), 0);
	assert_int_equal(rollup.rss_kib, 100000);
	assert_int_equal(rollup.pss_kib, 98400 + 400);
	root_close(&root);
}

static void the_live_kernel_agrees_with_itself(void **state)
{
	struct proc_pid_smaps_rollup rollup;
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, "/", NULL), 0);
	if (read_proc_pid_smaps_rollup(&root, getpid(), &rollup) < 0) {
		root_close(&root);
		SKIP("this kernel has no smaps_rollup");
	}
	assert_true(rollup.pss_kib > 0 && rollup.pss_kib <= rollup.rss_kib);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_finds_its_field),
		cmocka_unit_test(mappings_of_smaps_add_up),
		cmocka_unit_test(an_empty_file_is_an_error),
		cmocka_unit_test(old_kernels_and_zombies_have_none),
		cmocka_unit_test(the_live_kernel_agrees_with_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
