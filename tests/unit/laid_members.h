/* Members whose files in /proc a test has laid out, with a clock of the test, for tests of src/job/memory/memory_schedule.c. */
#pragma once

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_schedule.h"
#include "job/memory/memory_tuning.h"
#include "job/memory/process_memory.h"
#include "scratch.h"

enum { MEMBERS = 24, SLOTS = 64, FIRST_PID = 100, FIRST_PAGE = 1 << 14, PAGES = 1024, PAGE_KIB = 4 };
#define PRESENT (UINT64_C(1) << 63)
#define EXCLUSIVE (UINT64_C(1) << 56)

static struct root root;
static struct member members[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;
static struct process_memory memory;
static int64_t now_ns;
static int shared_more, shared_step; /* pages that member 0 maps more at each look at the clock */
static int anon_more, anon_step;     /* the same of anonymous pages */
static int64_t time_step;            /* how long each look takes */

static inline void lay(pid_t pid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d/%s", (int)pid, name);
	put_text(path, text);
}

static inline void lay_size(pid_t pid, int64_t resident, int64_t shared)
{
	char text[96];

	snprintf(text, sizeof text, "%d %d %d 0 0 0 0\n", (int)resident, (int)resident, (int)shared);
	lay(pid, "statm", text);
}

static inline int64_t tell_time(void *unused)
{
	(void)unused;
	if (shared_step || anon_step) {
		shared_more += shared_step;
		anon_more += anon_step;
		lay_size(FIRST_PID, PAGES + anon_more + shared_more, shared_more);
	}
	return now_ns += time_step;
}

static const struct clocks CLOCKS = {.monotonic_ns = tell_time, .realtime_ns = tell_time};

/* Each page is common, but for the first `own` ones. */
static inline void lay_pages(pid_t pid, int own)
{
	static uint64_t entries[FIRST_PAGE + PAGES];
	char path[64];

	for (int i = 0; i < PAGES; i++)
		entries[FIRST_PAGE + i] = PRESENT | (i < own ? EXCLUSIVE : 0);
	snprintf(path, sizeof path, "proc/%d/pagemap", (int)pid);
	put_file(path, entries, sizeof entries);
}

static inline void lay_rollup(pid_t pid, int64_t anon_kib, int64_t file_kib)
{
	char text[160];

	snprintf(text, sizeof text,
		 "Rss: %d kB\nPss: %d kB\nPss_Anon: %d kB\nPss_File: %d kB\nPrivate_Dirty: %d kB\nAnonymous: "
		 "%d kB\n",
		 (int)(anon_kib + file_kib), (int)(anon_kib + file_kib), (int)anon_kib, (int)file_kib,
		 (int)anon_kib, (int)anon_kib);
	lay(pid, "smaps_rollup", text);
}

/* Readings by smaps_rollup would take `rollup_ns`. */
static inline struct member *add(uint64_t family, bool is_forked, int64_t rollup_ns)
{
	struct member *member = &members[tree.count];
	pid_t pid = FIRST_PID + (pid_t)tree.count;
	char text[96];
	size_t slot = (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (SLOTS - 1);

	*member = (struct member){.pid = pid,
				  .parent_pid = is_forked ? FIRST_PID : 1,
				  .memory.is_forked = is_forked,
				  .memory.family = family,
				  .state = 'S',
				  .memory.resident_pages = PAGES,
				  .memory.inherited_pages = is_forked ? PAGES : 0,
				  .memory.faults = is_forked ? 0 : PAGES,
				  .memory.anon_at_faults = PAGES,
				  .memory.rollup_ns = rollup_ns,
				  .memory.rollup_pages = PAGES,
				  .files = {-1, -1, -1, -1, -1}};
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)++tree.count;
	snprintf(text, sizeof text, "proc/%d", (int)pid);
	assert_int_equal(mkdir(text, 0755), 0);
	snprintf(text, sizeof text, "%x000-%x000 rw-p 00000000 00:00 0 \n", FIRST_PAGE, FIRST_PAGE + PAGES);
	lay(pid, "maps", text);
	lay_size(pid, PAGES, 0);
	lay_pages(pid, is_forked ? 0 : PAGES / 4);
	lay_rollup(pid, (int64_t)PAGES * PAGE_KIB, 0);
	return member;
}

/* A process that is sampled, and forks of it. */
static inline void add_family(int count)
{
	for (int i = 0; i < count; i++)
		add(1, i > 0, NSEC_PER_SEC);
}

static inline int begin(void **state)
{
	now_ns = 100 * NSEC_PER_SEC;
	shared_more = shared_step = anon_more = anon_step = 0;
	time_step = 0;
	memset(slots, 0, sizeof slots);
	if (scratch_enter(state) || mkdir("proc", 0755) || root_open(&root, scratch_folder, &CLOCKS) < 0)
		return -1;
	root.page_bytes = PAGE_KIB * 1024;
	tree = (struct process_tree){
		.root = &root, .members = members, .slots = slots, .slot_count = SLOTS, .passes = 5};
	process_memory_open(&memory, &root);
	memory.reader.objects = &memory.objects;
	return 0;
}

static inline int end(void **state)
{
	for (size_t i = 0; i < tree.count && i < MEMBERS; i++)
		memory_reading_free(members[i].memory.reading);
	process_memory_close(&memory);
	root_close(&root);
	return scratch_leave(state);
}

static inline void tick(int secs)
{
	now_ns += secs * NSEC_PER_SEC;
	assert_int_equal(memory_families_build(&memory.families, &tree), 0);
	memory_schedule(&memory, &tree, PSS_MODE_AUTO);
}

static inline enum reading_choice choice_of(int i)
{
	return members[i].memory.choice;
}

static inline int count_choices(enum reading_choice choice)
{
	int count = 0;

	for (size_t i = 0; i < tree.count; i++)
		count += members[i].memory.choice == choice;
	return count;
}
