/* Tests of src/job/memory/memory_schedule.c: what readings cost, on page maps made by the test, with a clock that each look at moves on. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/memory/memory_schedule.h"
#include "job/memory/process_memory.h"
#include "unit.h"

enum { MEMBERS = 9, SLOTS = 32, FIRST_PID = 100, FIRST_PAGE = 1 << 14, PAGES = 96 * 256, PAGE_KIB = 4 };
#define PRESENT (UINT64_C(1) << 63)
#define EXCLUSIVE (UINT64_C(1) << 56)
#define SECOND INT64_C(1000000000)

static struct root root;
static struct member members[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;
static struct process_memory memory;
static char folder[] = "/tmp/test-memory-schedule-XXXXXX";
static int64_t now_ns, step_ns;

static int64_t tell_time(void *unused)
{
	(void)unused;
	return now_ns += step_ns;
}

static const struct clocks CLOCKS = {.monotonic_ns = tell_time, .realtime_ns = tell_time};

static int open_file(pid_t pid, const char *name)
{
	char path[96];
	int fd;

	snprintf(path, sizeof path, "%s/proc/%d/%s", folder, (int)pid, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	return fd;
}

static void lay_text(pid_t pid, const char *name, const char *text)
{
	int fd = open_file(pid, name);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Pages [0, first) are the process's own, and of the others each run of so many with this probability in 256. */
static void lay_pages(pid_t pid, int first, int of_256, int run)
{
	static uint64_t entries[PAGES];
	int fd = open_file(pid, "pagemap");
	uint32_t random = (uint32_t)pid;

	for (int i = 0; i < PAGES; i++) {
		if (i % run == 0)
			random = random * UINT32_C(1664525) + UINT32_C(1013904223);
		entries[i] = PRESENT | (i < first || (int)(random >> 24) < of_256 ? EXCLUSIVE : 0);
	}
	assert_int_equal(pwrite(fd, entries, sizeof entries, FIRST_PAGE * (off_t)sizeof entries[0]),
			 sizeof entries);
	close(fd);
}

/* A process with 96 MiB, and forks of it. */
static void add(int i)
{
	struct member *member = &members[i];
	char text[96], path[64];
	size_t slot;

	*member = (struct member){.pid = FIRST_PID + i,
				  .parent_pid = i ? FIRST_PID : 1,
				  .memory.is_forked = i > 0,
				  .memory.family = 1,
				  .state = 'S',
				  .memory.resident_pages = PAGES,
				  .memory.inherited_pages = i ? PAGES : 0,
				  .memory.faults = i ? 0 : PAGES,
				  .memory.anon_at_faults = PAGES,
				  .memory.rollup_ns = SECOND,
				  .memory.rollup_pages = PAGES,
				  .files = {-1, -1, -1, -1, -1}};
	slot = (size_t)((uint32_t)member->pid * UINT32_C(2654435769)) & (SLOTS - 1);
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)++tree.count;
	snprintf(path, sizeof path, "%s/proc/%d", folder, (int)member->pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(text, sizeof text, "%x000-%x000 rw-p 00000000 00:00 0 \n", FIRST_PAGE, FIRST_PAGE + PAGES);
	lay_text(member->pid, "maps", text);
	snprintf(text, sizeof text, "%d %d 0 0 0 0 0\n", PAGES, PAGES);
	lay_text(member->pid, "statm", text);
	lay_pages(member->pid, 0, 0, 1);
}

static int begin(void **unused)
{
	char path[64];

	(void)unused;
	now_ns = SECOND;
	step_ns = 0;
	memset(slots, 0, sizeof slots);
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/proc", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(root_open(&root, folder, &CLOCKS), 0);
	root.page_bytes = PAGE_KIB * 1024;
	tree = (struct process_tree){
		.root = &root, .members = members, .slots = slots, .slot_count = SLOTS, .passes = 5};
	for (int i = 0; i < MEMBERS; i++)
		add(i);
	process_memory_open(&memory, &root);
	memory.reader.objects = &memory.objects;
	return 0;
}

static int end(void **unused)
{
	static const char *const NAMES[] = {"maps", "statm", "pagemap", ""};
	char path[96];

	(void)unused;
	process_memory_close(&memory);
	for (int i = 0; i < MEMBERS; i++) {
		memory_reading_free(members[i].memory.reading);
		for (int j = 0; j < 4; j++) {
			snprintf(path, sizeof path, "%s/proc/%d/%s", folder, FIRST_PID + i, NAMES[j]);
			assert_int_equal(remove(path), 0);
		}
	}
	root_close(&root);
	snprintf(path, sizeof path, "%s/proc", folder);
	assert_int_equal(rmdir(path) + rmdir(folder), 0);
	return 0;
}

/* Each fork replaces so many more pages, of which nothing tells whether they were common. */
static void fault_in(int64_t pages)
{
	for (int i = 1; i < MEMBERS; i++)
		members[i].memory.faults += pages;
}

/* Takes the readings of one tick. Returns how many. */
static int tick(enum pss_mode mode)
{
	int64_t begun_ns = now_ns;
	int count = 0;

	assert_int_equal(memory_families_build(&memory.families, &tree), 0);
	memory_schedule(&memory, &tree, mode);
	for (int i = 0; i < MEMBERS; i++)
		count += members[i].memory.reading && members[i].memory.reading->taken_ns >= begun_ns &&
			 members[i].memory.reading->faults == members[i].memory.faults;
	return count;
}

static struct family_memory measure(void)
{
	return memory_family_measure(&memory.families, &memory.families.at[0], &tree, now_ns);
}

/* From the first page on, in parts, as programs write arrays: a sample of places that are spread over it finds the border. */
static void test_memory_overwritten_in_order_takes_few_places(void **state)
{
	int64_t truth_kib = PAGES * PAGE_KIB;

	(void)state;
	for (int i = 1; i < MEMBERS; i++) {
		lay_pages(FIRST_PID + i, PAGES * i / MEMBERS, 0, 1);
		truth_kib += PAGES * i / MEMBERS * PAGE_KIB;
	}
	fault_in(PAGES / 2);
	assert_int_equal(tick(PSS_MODE_AUTO), MEMBERS);
	assert_true(llabs(measure().anon_kib - truth_kib) <= truth_kib / 100);
	assert_true(memory.reader.entries_read > 0);
	assert_true(memory.reader.entries_read <= MEMBERS * 400);
}

/* Nothing tells of one page what the next one is: more places are needed, and the error is that of a draw. */
static void test_memory_overwritten_at_random_takes_more_places(void **state)
{
	double truth_kib = PAGES * PAGE_KIB * (1 + (MEMBERS - 1) / 4.0), error_kib;
	const struct memory_reading *reading;

	(void)state;
	for (int i = 1; i < MEMBERS; i++)
		lay_pages(FIRST_PID + i, 0, 64, 1);
	fault_in(PAGES / 4);
	assert_int_equal(tick(PSS_MODE_AUTO), MEMBERS);
	reading = members[1].memory.reading;
	/* Clusters of eight pages, one in each block of the level. */
	error_kib = PAGES * PAGE_KIB * sqrt(0.25 * 0.75 / (8.0 * (PAGES >> reading->common.level)));
	assert_true(sqrt(reading->variance) > error_kib * 0.7 && sqrt(reading->variance) < error_kib * 1.4);
	assert_true(fabs((double)measure().anon_kib - truth_kib) <= truth_kib * 0.03);
}

/* If little time is left, all are read, but none of them again for a smaller error. */
static void test_little_time_is_for_all_members(void **state)
{
	int64_t with_time;

	(void)state;
	for (int i = 1; i < MEMBERS; i++)
		lay_pages(FIRST_PID + i, 0, 64, 16);
	fault_in(PAGES / 4);
	assert_int_equal(tick(PSS_MODE_AUTO), MEMBERS);
	with_time = memory.reader.entries_read;
	now_ns += SECOND;
	fault_in(PAGES / 4);
	memory.allowance_ns = -4.4e6; /* and 5 ms for the second that has passed */
	assert_int_equal(tick(PSS_MODE_AUTO), MEMBERS - 1);
	assert_int_equal(memory.late_kib, 0);
	assert_true((memory.reader.entries_read - with_time) * 2 < with_time);
}

/* Later readings do not spend the rest of the first allowance: nine members cannot all be read in each tick. */
static void test_no_tick_but_the_first_takes_long(void **state)
{
	int taken = 0;

	(void)state;
	step_ns = SECOND / 500;
	fault_in(PAGES / 8);
	assert_int_equal(tick(PSS_MODE_AUTO), MEMBERS);
	assert_int_equal(memory.late_kib, 0);
	for (int i = 0; i < 4; i++) {
		int count;

		now_ns += SECOND;
		fault_in(PAGES / 8);
		count = tick(PSS_MODE_AUTO);
		assert_true(count > 0 && count < MEMBERS - 1);
		/* Each of the others may have as much more. */
		assert_true(memory.late_kib >= (MEMBERS - 1 - count) * (int64_t)(PAGES / 8) * PAGE_KIB);
		taken += count;
	}
	assert_true(taken * 2 <= 10 + 4 * 5 + 4 * 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory_overwritten_in_order_takes_few_places),
		TEST(test_memory_overwritten_at_random_takes_more_places),
		TEST(test_little_time_is_for_all_members),
		TEST(test_no_tick_but_the_first_takes_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
