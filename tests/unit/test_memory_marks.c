/* Tests of src/job/memory/memory_between.c: marks, exits and what was beside them, figure by figure, on trees made by the test. */
#include "scratch.h"

#include "job/memory/memory_between.h"
#include "job/tree/process_tree.h"

enum { MIB_PAGES = 256, MIB = 1024, MEMBERS = 4, SLOTS = 16 };

static struct root root = {.page_bytes = 4096};
static struct member members[MEMBERS];
static struct process_tree tree;
static struct memory_between *const between = &tree.memory.between;

static int begin(void **unused)
{
	(void)unused;
	memset(members, 0, sizeof members);
	root = (struct root){.page_bytes = 4096, .dir_fd = -1, .proc_fd = -1};
	tree = (struct process_tree){.root = &root, .members = members, .memory.between = {.before_kib = -1}};
	return 0;
}

static struct member *add(int64_t mib)
{
	struct member *member = &members[tree.count++];

	*member = (struct member){.pid = (pid_t)tree.count, .memory.resident_pages = mib * MIB_PAGES};
	return member;
}

static void follow(int64_t now_mib, int64_t once_mib)
{
	memory_between_follow(&tree, now_mib < 0 ? -1 : now_mib * MIB, once_mib < 0 ? -1 : once_mib * MIB);
}

/* ---- reading a mark ---------------------------------------------------------------------------------------------- */

static int begin_with_files(void **state)
{
	if (begin(state) < 0 || scratch_enter(state) < 0 || mkdir("proc", 0755) < 0)
		return -1;
	return root_open(&root, ".", NULL);
}

static int end_with_files(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

static void read_mark(struct member *member, bool first, const char *status)
{
	put_below("proc/1/status", status);
	memory_between_read_mark(&tree, member, first);
}

static void marks_begin_when_tracking_began(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	tree.seeded_ticks = 50;
	one->start_ticks = 49;
	one->memory.faults = 1;
	/* An older process had its mark before. */
	read_mark(one, true, "VmHWM: 300 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.peak_before_kib, 300);
	assert_int_equal(one->memory.mark_kib, 200);
	assert_int_equal(tree.memory.largest_kib, 200);
	/* Without a page fault the mark cannot have risen. */
	read_mark(one, false, "VmHWM: 900 kB\nVmRSS: 900 kB\n");
	assert_int_equal(one->memory.mark_kib, 200);
	one->memory.faults = 2;
	read_mark(one, false, "VmHWM: 300 kB\nVmRSS: 250 kB\n");
	assert_int_equal(one->memory.mark_kib, 250);
	assert_int_equal(one->memory.peak_faults, 2);
	one->memory.faults = 3;
	read_mark(one, false, "VmHWM: 301 kB\nVmRSS: 100 kB\n");
	assert_int_equal(one->memory.mark_kib, 301);
	assert_int_equal(one->memory.peak_before_kib, 300);
	/* exec has begun another mark. The largest one stays. */
	one->memory.faults = 4;
	read_mark(one, false, "VmHWM: 80 kB\nVmRSS: 70 kB\n");
	assert_int_equal(one->memory.peak_before_kib, 0);
	assert_int_equal(one->memory.mark_kib, 301);
	assert_int_equal(tree.memory.largest_kib, 301);
}

static void a_process_that_is_not_older_has_all_of_its_mark(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	tree.seeded_ticks = one->start_ticks = 50;
	tree.memory.largest_kib = 500;
	read_mark(one, true, "VmHWM: 300 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.peak_before_kib, 0);
	assert_int_equal(one->memory.mark_kib, 300);
	assert_int_equal(tree.memory.largest_kib, 500);
}

/* A kernel's thread has no mark, and a process may end before its file is read. */
static void a_process_without_a_mark_leaves_everything_as_it_was(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	tree.seeded_ticks = 1;
	one->memory =
		(struct member_memory){.faults = 9, .peak_faults = 7, .peak_before_kib = 5, .mark_kib = 3};
	read_mark(one, true, "Tgid: 1\nVmRSS: 8 kB\nvoluntary_ctxt_switches: 1\n");
	unlink("proc/1/status");
	memory_between_read_mark(&tree, one, true);
	assert_int_equal(one->memory.peak_faults, 7);
	assert_int_equal(one->memory.peak_before_kib, 5);
	assert_int_equal(one->memory.mark_kib, 3);
	assert_int_equal(tree.memory.largest_kib, 0);
	assert_int_equal(tree.cpu.waiting.offered_pid, 0);
}

/* The status of another thread tells the memory of the process, but not the switches of its main thread. */
static void switches_are_those_of_the_main_thread(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	read_mark(one, true,
		  "VmHWM: 3 kB\nVmRSS: 2 kB\nvoluntary_ctxt_switches: 41\nnonvoluntary_ctxt_switches: 7\n");
	assert_int_equal(tree.cpu.waiting.offered_pid, 1);
	assert_int_equal(tree.cpu.waiting.offered_voluntary, 41);
	assert_int_equal(tree.cpu.waiting.offered_involuntary, 7);
	tree.cpu.waiting.offered_pid = 0;
	one->state = 'Z';
	one->thread_count = 2;
	put_below("proc/1/task/1/stat", "");
	put_below("proc/1/task/77/stat", "");
	put_below("proc/77/status", "VmHWM: 30 kB\nVmRSS: 20 kB\n");
	memory_between_read_mark(&tree, one, true);
	assert_int_equal(one->memory.mark_kib, 30);
	assert_int_equal(tree.cpu.waiting.offered_pid, 0);
}

/* wait4(2) tells the marks of a wrapped job: the first reading waits for its turn, too, but the root and the largest member have none. */
static void members_of_a_wrapped_job_take_turns(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	tree.started_by_caller = true;
	tree.count = 8; /* the turn is each second pass */
	tree.passes = 2;
	one->memory.faults = 5;
	read_mark(one, true, "VmHWM: 300 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.mark_kib, 0);
	tree.passes = 3;
	memory_between_read_mark(&tree, one, true);
	assert_int_equal(one->memory.mark_kib, 300);
	tree.passes = 2;
	one->memory.faults = 6;
	read_mark(one, false, "VmHWM: 400 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.mark_kib, 300);
	between->largest_pid = 1;
	memory_between_read_mark(&tree, one, false);
	assert_int_equal(one->memory.mark_kib, 400);
	between->largest_pid = 0;
	tree.root_pid = 1;
	one->memory.faults = 7;
	read_mark(one, false, "VmHWM: 500 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.mark_kib, 500);
	/* Seven are read in each pass. */
	tree.root_pid = 9;
	tree.count = 7;
	one->memory.faults = 8;
	read_mark(one, false, "VmHWM: 600 kB\nVmRSS: 200 kB\n");
	assert_int_equal(one->memory.mark_kib, 600);
	tree.count = 1;
}

/* The first mark of a member that the tracker has not started is always read. */
static void the_first_mark_of_an_attached_member_needs_no_turn(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	tree.count = 128;
	tree.passes = 2;
	between->largest_pid = tree.root_pid = 1;
	read_mark(one, false, "VmHWM: 300 kB\nVmRSS: 200 kB\n");
	one->memory.faults = 1;
	memory_between_read_mark(&tree, one, false);
	assert_int_equal(one->memory.mark_kib, 0);
	memory_between_read_mark(&tree, one, true);
	assert_int_equal(one->memory.mark_kib, 300);
	tree.count = 1;
}

/* ---- members that leave, and exits ------------------------------------------------------------------------------- */

static void members_that_left_are_added_up_until_the_next_tick(void **unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct member *one = add(20 + 10 * i);

		one->memory.faults = 5 + i;
		one->memory.mark_kib = i == 1 ? 40 * MIB : 3 * MIB;
		one->memory.mark_followed_kib = one->memory.mark_kib;
	}
	follow(90, -1);
	for (int i = 0; i < 3; i++)
		memory_member_left(&tree, &members[i]);
	assert_int_equal(between->gone_faults, 5 + 6 + 7);
	assert_int_equal(between->gone_mark_kib, (20 + 40 + 40) * MIB);
	assert_int_equal(between->gone_pages, (20 + 30 + 40) * MIB_PAGES);
	assert_int_equal(between->gone_most_pages, 40 * MIB_PAGES);
	/* One that was in no tick had no memory that counted. */
	add(70);
	memory_member_left(&tree, &members[3]);
	assert_int_equal(between->gone_pages, 90 * MIB_PAGES);
	tree.count = 0;
	follow(-1, -1);
	assert_int_equal(between->gone_faults, 0);
	assert_int_equal(between->gone_mark_kib, 0);
	assert_int_equal(between->gone_pages, 0);
	assert_int_equal(between->gone_most_pages, 0);
	assert_int_equal(between->before_kib, -1);
}

/* A process of 100 MiB, and one of 60 that exits after so many page faults more. */
static void exit_after(int64_t faults)
{
	begin(NULL);
	add(100);
	add(60);
	follow(160, -1);
	memory_member_left(&tree, &members[1]);
	tree.count = 1;
	tree.cpu.unseen_faults = faults;
	follow(100, -1);
}

static void an_exit_counts_from_256_faults_on(void **unused)
{
	(void)unused;
	exit_after(255);
	assert_int_equal(between->beside_kib, 100 * MIB);
	assert_int_equal(between->exit_kib, 0);
	assert_int_equal(between->passed_kib, 0);
	exit_after(256);
	assert_int_equal(between->exit_kib, 61 * MIB);
	assert_int_equal(between->beside_exit_kib, 100 * MIB);
	assert_int_equal(between->passed_kib, 61 * MIB);
	assert_int_equal(between->most_kib, 161 * MIB);
	assert_int_equal(between->beside_kib, 100 * MIB);
	/* A smaller one changes nothing, and the same faults are not counted again. */
	tree.cpu.unseen_faults += 256;
	follow(100, -1);
	assert_int_equal(between->exit_kib, 61 * MIB);
	assert_int_equal(between->passed_kib, 61 * MIB);
	follow(500, -1);
	assert_int_equal(between->most_kib, 161 * MIB);
}

/* No process that was seen is larger than 100 MiB, so the one that exited had no more in what is known for certain. */
static void an_exit_is_at_most_the_largest_process_so_far(void **unused)
{
	(void)unused;
	exit_after(70 * MIB_PAGES);
	assert_int_equal(between->exit_kib, 130 * MIB);
	assert_int_equal(between->most_kib, 200 * MIB);
	assert_int_equal(memory_between_most_kib(between, 120 * MIB), 220 * MIB);
}

/* Its marks show that it took and freed 1,000 MiB in turn to have 60, so 100 MiB of faults are 6. */
static void faults_count_in_the_proportion_of_marks(void **unused)
{
	(void)unused;
	begin(NULL);
	add(100);
	add(60)->memory.faults = 1000 * MIB_PAGES;
	follow(160, -1);
	memory_member_left(&tree, &members[1]);
	tree.count = 1;
	tree.cpu.unseen_faults = 100 * MIB_PAGES;
	follow(100, -1);
	assert_int_equal(between->exit_kib, 66 * MIB);
}

static void one_of_many_exits_has_three_times_the_mean(void **unused)
{
	static const struct {
		int64_t exits, mib;
	} CASES[] = {{3, 100}, {4, 75}, {30, 10}};

	(void)unused;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		begin(NULL);
		add(100);
		tree.exited_count = 10;
		follow(100, -1);
		tree.exited_count += CASES[i].exits;
		tree.cpu.unseen_faults = 100 * MIB_PAGES;
		follow(100, -1);
		assert_int_equal(between->exit_kib, CASES[i].mib * MIB);
	}
	/* How many have exited was unknown in the tick before. */
	begin(NULL);
	add(100);
	tree.cpu.exits_missed = true;
	follow(100, -1);
	tree.cpu.exits_missed = false;
	tree.exited_count = 30;
	tree.cpu.unseen_faults = 100 * MIB_PAGES;
	follow(100, -1);
	assert_int_equal(between->exit_kib, 100 * MIB);
}

/* Before the first tick nothing is known to have been there, nor left. The root was, and other new processes may have come later. */
static void an_exit_before_the_first_tick_is_beside_the_root(void **unused)
{
	(void)unused;
	tree.root_pid = 1;
	add(150);
	tree.cpu.unseen_faults = 256;
	follow(150, -1);
	assert_int_equal(between->exit_kib, MIB);
	assert_int_equal(between->beside_exit_kib, 150 * MIB);
	assert_int_equal(between->passed_kib, MIB);
	assert_int_equal(between->beside_kib, 150 * MIB);
	/* Resident sets count pages several times. */
	begin(NULL);
	add(150);
	tree.cpu.unseen_faults = 256;
	follow(100, -1);
	assert_int_equal(between->beside_exit_kib, 0);
	assert_int_equal(between->beside_kib, 0);
	assert_int_equal(memory_between_most_kib(between, 150 * MIB), 150 * MIB);
}

/* A fork of 100 MiB goes, and its parent keeps 80 of them: the tree had 120 MiB, and not 200. */
static void memory_that_a_member_left_behind_counts_with_those_that_stayed(void **unused)
{
	(void)unused;
	add(100);
	add(100);
	follow(120, -1);
	memory_member_left(&tree, &members[1]);
	tree.count = 1;
	tree.cpu.unseen_faults = 256;
	follow(100, -1);
	/* 20 MiB of its own, and one more. */
	assert_int_equal(between->exit_kib, 21 * MIB);
	assert_int_equal(between->passed_kib, 21 * MIB);
	assert_int_equal(between->beside_exit_kib, 100 * MIB);
	assert_int_equal(between->beside_kib, 20 * MIB);
}

/* ---- what was beside a mark -------------------------------------------------------------------------------------- */

static void members_know_the_most_that_was_beside_them(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	add(50)->is_zombie = true;
	between->passed_kib = 7;
	follow(60, -1);
	assert_true(one->memory.was_counted && !members[1].memory.was_counted);
	assert_int_equal(one->memory.resident_before, 10 * MIB_PAGES);
	assert_int_equal(members[1].memory.resident_before, 0);
	assert_int_equal(one->memory.beside_kib, 50 * MIB);
	assert_int_equal(one->memory.passed_before_kib, 7);
	between->passed_kib = 9;
	follow(40, -1);
	assert_int_equal(one->memory.beside_kib, 50 * MIB);
	assert_int_equal(one->memory.passed_before_kib, 7);
	follow(70, -1);
	assert_int_equal(one->memory.beside_kib, 60 * MIB);
	assert_int_equal(between->seen_kib, 10 * MIB);
}

static void the_largest_member_is_watched_from_8_mib_beside_it_on(void **unused)
{
	(void)unused;
	add(10);
	add(5);
	memory_between_follow(&tree, 18 * MIB - 1, -1);
	assert_int_equal(between->largest_pid, 0);
	memory_between_follow(&tree, 18 * MIB, -1);
	assert_int_equal(between->largest_pid, 1);
	members[0].is_zombie = members[1].is_zombie = true;
	follow(50, -1);
	assert_int_equal(between->largest_pid, 0);
}

static void a_reaped_mark_counts_once_it_is_larger_than_all(void **unused)
{
	struct member *one = add(10);

	(void)unused;
	follow(30, -1);
	memory_between_reaped(&tree, one, 10 * MIB);
	assert_int_equal(between->most_kib, 0);
	one->memory.was_counted = false;
	memory_between_reaped(&tree, one, 11 * MIB);
	assert_int_equal(between->most_kib, 0);
	one->memory.was_counted = true;
	memory_between_reaped(&tree, one, 10 * MIB + 1);
	assert_int_equal(between->most_kib, 30 * MIB + 1);
	assert_int_equal(between->seen_kib, 10 * MIB + 1);
	/* Another process that came and went is at most as large. */
	between->passed_kib = 500 * MIB;
	memory_between_reaped(&tree, one, 40 * MIB);
	assert_int_equal(between->most_kib, 80 * MIB);
}

static void the_largest_so_far_tells_how_often_pages_count(void **unused)
{
	(void)unused;
	add(10);
	add(8);
	follow(18, -1);
	assert_int_equal(between->over_of_kib, 0);
	follow(9, 9);
	assert_int_equal(between->over_pid, 1);
	assert_int_equal(between->over_of_kib, 10 * MIB);
	assert_int_equal(between->over_kib, MIB);
	/* As large as the last time, and then the other one. */
	follow(7, 7);
	assert_int_equal(between->over_kib, 3 * MIB);
	members[1].memory.resident_pages = 10 * MIB_PAGES;
	follow(30, 30);
	assert_int_equal(between->over_pid, 2);
	assert_int_equal(between->over_kib, 0);
	members[1].memory.resident_pages = 20 * MIB_PAGES;
	members[1].is_zombie = true;
	follow(5, 5);
	assert_int_equal(between->over_pid, 1);
	assert_int_equal(between->over_of_kib, 10 * MIB);
}

/* A member of which the resident set counts pages several times, though another is larger. */
static void a_mark_above_the_whole_tree_counts_pages_several_times(void **unused)
{
	(void)unused;
	add(10)->memory.mark_kib = 12 * MIB;
	add(5)->memory.mark_kib = 9 * MIB;
	follow(2, 2);
	/* 2 + 9 - 5 beside nothing, or 2 + 12 - 10. */
	assert_int_equal(between->most_kib, 6 * MIB);
	begin(NULL);
	add(10)->memory.mark_kib = 12 * MIB;
	add(5)->memory.mark_kib = 9 * MIB;
	follow(0, 0);
	assert_int_equal(between->most_kib, 4 * MIB);
}

static void the_mark_of_a_process_that_ends_counts_beside_the_tick_before(void **unused)
{
	struct member *one = add(0);

	(void)unused;
	follow(0, -1);
	one->is_zombie = true;
	one->memory.mark_kib = 100 * MIB;
	follow(-1, -1);
	assert_int_equal(between->most_kib, 100 * MIB);
	assert_int_equal(between->seen_kib, 100 * MIB);
	/* Without any tick nothing is known. */
	begin(NULL);
	add(0)->memory.mark_kib = 100 * MIB;
	members[0].is_zombie = true;
	follow(-1, -1);
	assert_int_equal(between->most_kib, 0);
}

/* A parent and its fork, with 80 MiB that it inherited. Since then the parent has replaced 6 of them, and the fork 5. */
static void lay_fork(void)
{
	begin(NULL);
	add(20)->memory.faults = 10 * MIB_PAGES;
	add(20);
	for (size_t i = 0; i < 2; i++)
		members[i].memory.family = 1;
	members[1].parent_pid = members[1].memory.forked_by = 1;
	members[1].memory.is_forked = true;
	members[1].memory.inherited_pages = 80 * MIB_PAGES;
	members[1].memory.parent_faults = 4 * MIB_PAGES;
	members[1].memory.faults = 5 * MIB_PAGES;
	follow(150, -1);
}

/* The most, if the mark of this member rises to 200 MiB. */
static int64_t most_of_rise(size_t i)
{
	members[i].memory.mark_kib = 200 * MIB;
	follow(150, -1);
	return between->most_kib / MIB;
}

static void a_mark_leaves_out_pages_that_a_relative_has(void **unused)
{
	(void)unused;
	lay_fork();
	assert_int_equal(most_of_rise(1), 200 + 150 - 69);
	lay_fork();
	assert_int_equal(most_of_rise(0), 200 + 150 - 69);
	/* A fork of another process, which has gone: all faults of both count. */
	lay_fork();
	members[1].memory.forked_by = 77;
	assert_int_equal(most_of_rise(1), 200 + 150 - 65);
	/* More was replaced than there was. */
	lay_fork();
	members[1].memory.faults = 90 * MIB_PAGES;
	assert_int_equal(most_of_rise(1), 200 + 150 - 20);
	/* Another program. */
	lay_fork();
	members[0].memory.family = 2;
	assert_int_equal(most_of_rise(1), 200 + 150 - 20);
	lay_fork();
	members[0].memory.family = members[1].memory.family = 0;
	assert_int_equal(most_of_rise(1), 200 + 150 - 20);
	/* Shared pages of both, as far as both have them. */
	lay_fork();
	members[0].memory.shared_pages = 7 * MIB_PAGES;
	members[1].memory.shared_pages = 12 * MIB_PAGES;
	assert_int_equal(most_of_rise(1), 200 + 150 - 76);
}

/* As process_tree_find() looks for them. */
static void index_members(void)
{
	static uint32_t slots[SLOTS];

	memset(slots, 0, sizeof slots);
	tree.slots = slots;
	tree.slot_count = SLOTS;
	for (size_t i = 0; i < tree.count; i++) {
		size_t slot = (size_t)((uint32_t)members[i].pid * UINT32_C(2654435769)) & (SLOTS - 1);

		while (slots[slot])
			slot = (slot + 1) & (SLOTS - 1);
		slots[slot] = (uint32_t)i + 1;
	}
}

/* With a sibling before both, of which the fork has 15 MiB at most that neither has replaced. */
static void lay_sibling(void)
{
	lay_fork();
	members[2] = members[1];
	members[1] = members[0];
	members[0] = (struct member){.pid = 3,
				     .memory = {.family = 1,
						.is_forked = true,
						.forked_by = 1,
						.resident_pages = 10 * MIB_PAGES,
						.resident_before = 10 * MIB_PAGES,
						.was_counted = true,
						.faults = 30 * MIB_PAGES}};
	tree.count = 3;
	index_members();
}

/* The relative is the parent if that has memory, and else any other fork of the family. */
static void the_relative_of_a_mark_is_its_parent_or_a_sibling(void **unused)
{
	(void)unused;
	lay_sibling();
	assert_int_equal(most_of_rise(2), 200 + 150 - 69);
	lay_sibling();
	members[1].is_zombie = true;
	assert_int_equal(most_of_rise(2), 200 + 150 - 45);
	/* The parent runs another program by now. */
	lay_sibling();
	members[1].memory.family = 2;
	assert_int_equal(most_of_rise(2), 200 + 150 - 45);
	/* The process itself has called exec, and is in its family alone. */
	lay_sibling();
	members[2].memory.family = 2;
	assert_int_equal(most_of_rise(2), 200 + 150 - 20);
	lay_sibling();
	members[1].is_zombie = members[0].is_zombie = true;
	assert_int_equal(most_of_rise(2), 200 + 150 - 20);
}

/* ---- the most ---------------------------------------------------------------------------------------------------- */

static void the_most_is_that_of_marks_of_exits_or_of_the_largest_process(void **unused)
{
	struct memory_between of = {
		.most_kib = 500, .beside_kib = 70, .seen_kib = 1000, .exit_kib = 300, .beside_exit_kib = 400};

	(void)unused;
	assert_int_equal(memory_between_most_kib(&of, 50), 500);
	assert_int_equal(memory_between_most_kib(&of, 200), 600);
	assert_int_equal(memory_between_most_kib(&of, 600), 700);
	assert_int_equal(memory_between_most_kib(&of, 900), 900);
	/* The kernel's marks are exact to 2 MiB. A larger one was not seen, and counts beside the others. */
	assert_int_equal(memory_between_most_kib(&of, 3048), 3048);
	assert_int_equal(memory_between_most_kib(&of, 3049), 3119);
	of.over_kib = 3049;
	assert_int_equal(memory_between_once_kib(&of, 3049), 0);
	assert_int_equal(memory_between_once_kib(&of, 3050), 1);
	assert_int_equal(memory_between_most_kib(&of, 3100), 700);
	of.beside_kib = 900;
	assert_int_equal(memory_between_most_kib(&of, 3100), 51 + 900);
}

#define mark_test(test) cmocka_unit_test_setup(test, begin)
#define mark_test_with_files(test) cmocka_unit_test_setup_teardown(test, begin_with_files, end_with_files)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		mark_test_with_files(marks_begin_when_tracking_began),
		mark_test_with_files(a_process_that_is_not_older_has_all_of_its_mark),
		mark_test_with_files(a_process_without_a_mark_leaves_everything_as_it_was),
		mark_test_with_files(switches_are_those_of_the_main_thread),
		mark_test_with_files(members_of_a_wrapped_job_take_turns),
		mark_test_with_files(the_first_mark_of_an_attached_member_needs_no_turn),
		mark_test(members_that_left_are_added_up_until_the_next_tick),
		mark_test(an_exit_counts_from_256_faults_on),
		mark_test(an_exit_is_at_most_the_largest_process_so_far),
		mark_test(faults_count_in_the_proportion_of_marks),
		mark_test(one_of_many_exits_has_three_times_the_mean),
		mark_test(an_exit_before_the_first_tick_is_beside_the_root),
		mark_test(memory_that_a_member_left_behind_counts_with_those_that_stayed),
		mark_test(members_know_the_most_that_was_beside_them),
		mark_test(the_largest_member_is_watched_from_8_mib_beside_it_on),
		mark_test(a_reaped_mark_counts_once_it_is_larger_than_all),
		mark_test(the_largest_so_far_tells_how_often_pages_count),
		mark_test(a_mark_above_the_whole_tree_counts_pages_several_times),
		mark_test(the_mark_of_a_process_that_ends_counts_beside_the_tick_before),
		mark_test(a_mark_leaves_out_pages_that_a_relative_has),
		mark_test(the_relative_of_a_mark_is_its_parent_or_a_sibling),
		mark_test(the_most_is_that_of_marks_of_exits_or_of_the_largest_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
