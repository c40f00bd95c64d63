/* Tests of src/kernel/proc_pid_pagemap.c: entries of this process's own pages. */
#include "in_child.h"
#include "kernel.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "kernel/proc_pid_pagemap.h"
#include <sys/prctl.h>

static void pages_of_this_process_are_read_by_their_number(void **state)
{
	struct root root;
	uint64_t entries[3] = {9, 9, 9}, page;
	int fd;
	char *memory;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(root_open(&root, "/", NULL), 0);
	memory = mmap(NULL, 3 * (size_t)root.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	assert_true(memory != MAP_FAILED);
	memory[root.page_bytes] = 'x';
	page = (uint64_t)(uintptr_t)memory / (uint64_t)root.page_bytes;
	fd = open_proc_pid_pagemap(&root, getpid());
	if (fd < 0)
		SKIP("this kernel has no pagemap");
	assert_int_equal(read_proc_pid_pagemap(fd, page, entries, 3), 3);
	/* The page in the middle alone was written to. Bit 63: it is in memory. */
	assert_true(!(entries[0] >> 63) && entries[1] >> 63 && !(entries[2] >> 63));
	assert_int_equal(read_proc_pid_pagemap(fd, page + 1, entries, 1), 1);
	assert_true(entries[0] >> 63);
	assert_int_equal(read_proc_pid_pagemap(fd, INT64_MAX / 8 + 1, entries, 1), -EINVAL);
	assert_true(read_proc_pid_pagemap(fd, INT64_MAX / 8 - 1, entries, 1) <= 0);
	close(fd);
	assert_int_equal(read_proc_pid_pagemap(-1, page, entries, 1), -EBADF);
	munmap(memory, 3 * (size_t)root.page_bytes);
	root_close(&root);
}

static void a_captured_machine_hides_frames(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0");

	(void)state;
	assert_int_equal(open_proc_pid_pagemap(&root, getpid()), -ENOENT);
	assert_true(proc_pid_pagemap_hides_frames(&root));
	root_close(&root);
}

/* Half of a page table entry is none. */
static void a_cut_file_has_its_whole_entries(void **state)
{
	uint64_t entries[2] = {0};
	char path[] = "/tmp/rt-pagemap-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	unlink(path);
	assert_int_equal(write(fd, "12345678abcd", 12), 12);
	assert_int_equal(read_proc_pid_pagemap(fd, 0, entries, 2), 1);
	assert_memory_equal(entries, "12345678", 8);
	assert_int_equal(read_proc_pid_pagemap(fd, 1, entries, 1), 0);
	close(fd);
}

/* An ordinary user sees the pages, and the kernel leaves out their frames. */
static int look_as_an_ordinary_user(void)
{
	struct root root;
	uint64_t entry = 0;
	int fd;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 1;
	/* A process that has changed its user may look at itself again. */
	prctl(PR_SET_DUMPABLE, 1);
	if (root_open(&root, "/", NULL) < 0)
		return 2;
	fd = open_proc_pid_pagemap(&root, getpid());
	if (fd < 0 || read_proc_pid_pagemap(fd, (uint64_t)(uintptr_t)&entry / (uint64_t)root.page_bytes,
					    &entry, 1) != 1)
		return 77;
	if (page_frame(entry))
		return 77;
	return proc_pid_pagemap_hides_frames(&root) ? 0 : 3;
}

static void frames_are_hidden_from_ordinary_users(void **state)
{
	int code;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	code = in_child(look_as_an_ordinary_user);
	if (code == 77)
		SKIP("this kernel has no pagemap, or shows all of it");
	assert_int_equal(code, 0);
}

static void frames_are_seen_where_the_kernel_shows_them(void **state)
{
	struct root root;
	uint64_t entry = 0;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(root_open(&root, "/", NULL), 0);
	fd = open_proc_pid_pagemap(&root, getpid());
	if (fd < 0)
		SKIP("this kernel has no pagemap");
	assert_int_equal(
		read_proc_pid_pagemap(fd, (uint64_t)(uintptr_t)&entry / (uint64_t)root.page_bytes, &entry, 1),
		1);
	assert_int_equal(proc_pid_pagemap_hides_frames(&root), !page_frame(entry));
	close(fd);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_this_process_are_read_by_their_number),
		cmocka_unit_test(a_captured_machine_hides_frames),
		cmocka_unit_test(a_cut_file_has_its_whole_entries),
		cmocka_unit_test(frames_are_hidden_from_ordinary_users),
		cmocka_unit_test(frames_are_seen_where_the_kernel_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
