/* Tests of src/kernel/proc_pid_maps.c, proc_pid_pagemap.c and proc_sysvipc_shm.c. */
#include "kernel.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel/proc_pid_maps.h"
#include "kernel/proc_pid_pagemap.h"
#include "kernel/proc_sysvipc_shm.h"

static void areas_have_all_columns(void **state)
{
	static const char TEXT[] = "55b5401e2000-55b5401f0000 r-xp 00002000 fe:01 1572890                    "
				   "/usr/bin/with space\n"
				   "nonsense\n"
				   "7f12a9000000-7f12ce800000 rw-s 00000000 00:01 2049                       "
				   "/dev/zero (deleted)\n"
				   "7ffe6246d000-7ffe6248e000 ---p 00000000 00:00 0 \n";
	struct scan areas = parse_proc_pid_maps(TEXT, sizeof TEXT - 1);
	struct memory_area area;

	(void)state;
	assert_true(proc_pid_maps_next(&areas, &area));
	assert_int_equal(area.start, 0x55b5401e2000);
	assert_int_equal(area.end, 0x55b5401f0000);
	assert_int_equal(area.offset, 0x2000);
	assert_int_equal(area.device, makedev(0xfe, 1));
	assert_int_equal(area.inode, 1572890);
	assert_true(area.readable && !area.writable && !area.shared);
	assert_true(scan_is(&area.name, "/usr/bin/with space"));
	assert_true(proc_pid_maps_next(&areas, &area));
	assert_true(area.writable && area.shared);
	assert_int_equal(area.inode, 2049);
	assert_true(scan_is(&area.name, "/dev/zero (deleted)"));
	assert_true(proc_pid_maps_next(&areas, &area));
	assert_false(area.readable);
	assert_int_equal(area.inode, 0);
	assert_int_equal(scan_left(&area.name), 0);
	assert_false(proc_pid_maps_next(&areas, &area));
}

static void areas_that_end_before_they_begin_are_skipped(void **state)
{
	static const char TEXT[] = "2000-1000 rw-p 00000000 00:00 0 \n1000-1000 rw-p 00000000 00:00 0 \n"
				   "1000-2000 rw 00000000 00:00 0 \n1000-2000 rw-p 00000000 00:00\n";
	struct scan areas = parse_proc_pid_maps(TEXT, sizeof TEXT - 1);
	struct memory_area area;

	(void)state;
	assert_false(proc_pid_maps_next(&areas, &area));
}

static void page_map_of_the_test_itself(void **state)
{
	struct root root, live;
	long page = sysconf(_SC_PAGESIZE);
	char *memory;
	uint64_t entry = 0;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	root = test_root("hand-made-workstation-6.1/t0");
	memory = aligned_alloc((size_t)page, (size_t)page);
	assert_int_equal(open_proc_pid_pagemap(&root, getpid()), -ENOENT);
	root_close(&root);
	assert_int_equal(root_open(&live, NULL, NULL), 0);
	memset(memory, 1, (size_t)page);
	fd = open_proc_pid_pagemap(&live, getpid());
	assert_true(fd >= 0);
	assert_int_equal(read_proc_pid_pagemap(fd, (uint64_t)(uintptr_t)memory / (uint64_t)page, &entry, 1),
			 1);
	assert_true(page_is_present(entry) && page_is_exclusive(entry));
	assert_false(page_is_of_file(entry) || page_is_swapped(entry));
	assert_int_equal(read_proc_pid_pagemap(fd, UINT64_MAX / 2, &entry, 1), -EINVAL);
	close(fd);
	free(memory);
	root_close(&live);
}

static void segments_are_found_by_their_id(void **state)
{
	static const char TEXT[] = "       key      shmid perms       size  cpid  lpid nattch   uid   gid  "
				   "cuid  cgid      atime "
				   "     dtime      ctime        rss       swap\n"
				   "         0          3   600  314572800  4242  4243      7     0     0    "
				   " 0     0          1 "
				   "         0          1  104857600       4096\n"
				   "-123456789         98   600       4096  4242  4243      0     0     0    "
				   " 0     0          1 "
				   "         0          1\n";
	struct shm_segment segment;

	(void)state;
	assert_true(parse_proc_sysvipc_shm(TEXT, sizeof TEXT - 1, 3, &segment));
	assert_int_equal(segment.size_bytes, 314572800);
	assert_int_equal(segment.attached_count, 7);
	assert_int_equal(segment.resident_bytes, 104857600);
	assert_int_equal(segment.swapped_bytes, 4096);
	assert_true(parse_proc_sysvipc_shm(TEXT, sizeof TEXT - 1, 98, &segment));
	assert_int_equal(segment.resident_bytes, -1);
	assert_false(parse_proc_sysvipc_shm(TEXT, sizeof TEXT - 1, 4, &segment));
	assert_false(parse_proc_sysvipc_shm("", 0, 0, &segment));
}

static void numbers_have_their_most(void **state)
{
	static const char TEXT[] =
		"1-2 rwxp 0 100000000:0 7 a\n1-2 rwxp 0 0:100000000 7 b\n1 rw-p 0 0:0 7 c\n1-2\n1-2 rwxp\n"
		"1-2 rwxp x 0:0 7 d\n1-2 rwxp 0 0;0 7 e\n1-2 rwxp 0 0:0 x f\n1-x rwxp 0 0:0 1 g\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 fff:fffff 18446744073709551615 [vsyscall]\n";
	struct scan areas = parse_proc_pid_maps(TEXT, sizeof TEXT - 1);
	struct memory_area area;

	(void)state;
	assert_true(proc_pid_maps_next(&areas, &area));
	assert_scan_equal(&area.name, "[vsyscall]");
	assert_true(area.end == UINT64_C(0xffffffffff601000) && area.inode == UINT64_MAX);
	assert_true(area.device == makedev(0xfff, 0xfffff) && !area.readable && !area.writable &&
		    !area.shared);
	assert_false(proc_pid_maps_next(&areas, &area));
	areas = parse_proc_pid_maps("1-2 rw-s 0 ffffffff:ffffffff 3\n", 31);
	assert_true(proc_pid_maps_next(&areas, &area));
	assert_true(area.shared && area.inode == 3 && scan_left(&area.name) == 0);
}

static void areas_of_this_process_are_read_to_the_end(void **state)
{
	struct root live;
	struct memory_area area;
	struct scan areas;
	int known = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(root_open(&live, NULL, NULL), 0);
	assert_int_equal(read_proc_pid_maps(&live, getpid(), &areas), 0);
	while (proc_pid_maps_next(&areas, &area))
		known += area.start <= (uintptr_t)&live && (uintptr_t)&live < area.end;
	assert_int_equal(known, 1);
	root_close(&live);
	live = test_root("hand-made-workstation-6.1/t0");
	assert_int_equal(read_proc_pid_maps(&live, 9999, &areas), -ENOENT);
	root_close(&live);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_have_all_columns),
		cmocka_unit_test(areas_that_end_before_they_begin_are_skipped),
		cmocka_unit_test(page_map_of_the_test_itself),
		cmocka_unit_test(segments_are_found_by_their_id),
		cmocka_unit_test(numbers_have_their_most),
		cmocka_unit_test(areas_of_this_process_are_read_to_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
