/* Members whose readings a test has made, on a machine that it has laid out, for tests of src/job/memory/process_memory.c. */
#pragma once

#include "base/cleanup.h"
#include "job/memory/memory_tuning.h"
#include "job/memory/process_memory.h"
#include "metric/absent.h"
#include "scratch.h"

#include <errno.h>

enum { MEMBERS = 6, SLOTS = 32, FIRST_PID = 100, MIB_PAGES = 256, MIB = 1024, PAGE_KIB = 4 };
#define NOW_NS (100 * NSEC_PER_SEC)

static struct root root;
static struct member members[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;
static struct process_memory memory;
static struct tree_memory found;

static inline int64_t tell_time(void *unused)
{
	(void)unused;
	return NOW_NS;
}

static const struct clocks CLOCKS = {.monotonic_ns = tell_time, .realtime_ns = tell_time};

static inline void lay_machine(int anon_mib, int mapped_mib, int shmem_mib, int huge_pages)
{
	char text[400];

	snprintf(text, sizeof text,
		 "MemTotal: 8000000 kB\nAnonPages: %d kB\nMapped: %d kB\nShmem: %d kB\nSwapTotal: 0 "
		 "kB\nSwapFree: 0 kB\n"
		 "HugePages_Total: %d\nHugePages_Free: 0\nHugepagesize: 2048 kB\n",
		 anon_mib * MIB, mapped_mib * MIB, shmem_mib * MIB, huge_pages);
	put_text("proc/meminfo", text);
}

static inline int begin(void **state)
{
	memset(slots, 0, sizeof slots);
	memset(members, 0, sizeof members);
	if (scratch_enter(state) || mkdir("proc", 0755) || root_open(&root, scratch_folder, &CLOCKS) < 0)
		return -1;
	root.page_bytes = PAGE_KIB * 1024;
	tree = (struct process_tree){.root = &root,
				     .members = members,
				     .slots = slots,
				     .slot_count = SLOTS,
				     .root_pid = FIRST_PID,
				     .with_children = true,
				     .cgroup_folder = -1,
				     .passes = 5,
				     .memory.between.before_kib = -1};
	process_memory_open(&memory, &root);
	lay_machine(4000, 4000, 0, 0);
	return 0;
}

static inline int end(void **state)
{
	for (size_t i = 0; i < tree.count; i++)
		memory_reading_free(members[i].memory.reading);
	process_memory_close(&memory);
	root_close(&root);
	return scratch_leave(state);
}

static inline struct member *add(int anon_mib, int shared_mib)
{
	struct member *member = &members[tree.count];
	pid_t pid = FIRST_PID + (pid_t)tree.count;
	size_t slot = (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (SLOTS - 1);

	*member = (struct member){.pid = pid,
				  .parent_pid = tree.count ? FIRST_PID : 1,
				  .memory.family = tree.count + 1,
				  .state = 'S',
				  .memory.resident_pages = (anon_mib + shared_mib) * MIB_PAGES,
				  .memory.shared_pages = shared_mib * MIB_PAGES,
				  .memory.faults = anon_mib * MIB_PAGES,
				  .memory.anon_at_faults = anon_mib * MIB_PAGES,
				  .memory.rollup_ns = 1000,
				  .memory.rollup_pages = (anon_mib + shared_mib) * MIB_PAGES,
				  .files = {-1, -1, -1, -1, -1}};
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)++tree.count;
	return member;
}

/* Its last reading, which is still right. */
static inline struct memory_reading *read_as(struct member *member, enum memory_reading_kind kind,
					     int file_mib)
{
	struct memory_reading *reading = calloc(1, sizeof *reading);
	int64_t anon_kib = (member->memory.resident_pages - member->memory.shared_pages) * PAGE_KIB;

	assert_non_null(reading);
	*reading = (struct memory_reading){.kind = kind,
					   .has_anon = true,
					   .is_settled = true,
					   .has_files = true,
					   .files_scale = 1,
					   .taken_ns = NOW_NS - NSEC_PER_SEC,
					   .files_taken_ns = NOW_NS - NSEC_PER_SEC,
					   .statm_anon_kib = anon_kib,
					   .statm_shared_kib = member->memory.shared_pages * PAGE_KIB,
					   .faults = member->memory.faults,
					   .family_size = 1,
					   .anon_kib = anon_kib,
					   .exclusive_kib = anon_kib,
					   .private_kib = anon_kib,
					   .file_kib = file_mib * MIB};
	member->memory.reading = reading;
	return reading;
}

static inline int64_t best_mib(void)
{
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
	/* Not a KiB more or less. */
	assert_int_equal(found.best_bytes % (MIB * 1024), 0);
	return found.best_bytes / 1024 / MIB;
}

/* A segment of shared memory that two members map counts once, with pages that are in no page table. */
static inline void lay_segment(void)
{
	static const char NAME[] = "/SYSV00000000 (deleted)";
	const struct memory_area area = {.device = 1,
					 .inode = 5,
					 .end = 40 * MIB * 1024,
					 .shared = true,
					 .writable = true,
					 .name = {NAME, NAME + sizeof NAME - 1}};

	lay_machine(4000, 4000, 100, 4);
	assert_int_equal(mkdir("proc/sysvipc", 0755), 0);
	put_text("proc/sysvipc/shm",
		 "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n"
		 "0 5 600 41943040 1 1 2 0 0 0 0 0 0 0 20971520 0\n");
	for (int i = 0; i < 2; i++)
		assert_true(page_places_add(&read_as(add(10, 10), READING_ROLLUP, 0)->objects, 1, 5));
	assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &area));
	members[0].memory.reading->others_shared_kib = members[1].memory.reading->others_shared_kib =
		10 * MIB;
}
