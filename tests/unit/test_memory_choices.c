/* Tests of src/job/memory/memory_schedule.c: which members are read in a tick, and why the others are not. */
#include "laid_members.h"

/* The size before and after the reading differ, and the size after it is that of the reading: only the note of it tells. */
static void test_a_reading_of_a_process_that_maps_more_meanwhile_is_repeated(void **state)
{
	(void)state;
	add(1, false, 1000);
	add(1, true, 1000);
	lay_rollup(FIRST_PID, (int64_t)PAGES * PAGE_KIB, 400);
	tick(0);
	assert_true(members[0].memory.reading->is_settled);
	shared_step = 50;
	now_ns += 9 * NSEC_PER_SEC;
	tick(0);
	shared_step = 0;
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_false(members[0].memory.reading->is_settled);
	/* The rollup had it already. */
	lay_rollup(FIRST_PID, (int64_t)PAGES * PAGE_KIB, (int64_t)shared_more * PAGE_KIB);
	members[0].memory.reading->statm_shared_kib = members[0].memory.shared_pages * PAGE_KIB;
	members[0].memory.reading->others_shared_kib = 0;
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_true(members[0].memory.reading->is_settled);
	tick(1);
	assert_int_equal(choice_of(0), READING_STILL_RIGHT);
}

/* All anonymous pages are common, and a half of them counts for this process. */
static void lay_common(pid_t pid, int64_t anon_kib)
{
	char text[160];

	snprintf(text, sizeof text,
		 "Rss: %d kB\nPss: %d kB\nPss_Anon: %d kB\nPss_File: 0 kB\nPrivate_Dirty: 0 kB\nAnonymous: "
		 "%d kB\n",
		 (int)anon_kib, (int)anon_kib / 2, (int)anon_kib / 2, (int)anon_kib);
	lay(pid, "smaps_rollup", text);
}

/* It takes huge pages after its page faults were read: the estimate of the faults is too high, for good. */
static void test_huge_pages_during_a_reading_hide_no_later_doubt(void **state)
{
	(void)state;
	add(1, false, 1000);
	add(1, true, 1000);
	lay_size(FIRST_PID + 1, PAGES + 512, 0);
	lay_common(FIRST_PID + 1, (int64_t)(PAGES + 512) * PAGE_KIB);
	tick(0);
	assert_int_equal(choice_of(1), READING_TAKEN);
	assert_true(members[1].memory.reading->faults > members[1].memory.faults);
	/* The reading divided its pages by two. */
	add(1, true, 1000);
	members[1].memory.reading->is_settled = true;
	tick(1);
	assert_int_equal(choice_of(1), READING_TAKEN);
}

/* A fork between two samples has every page of the process until it calls exec. Sharers outside the job stay. */
static void test_pages_that_an_unseen_fork_shares_are_read_again(void **state)
{
	(void)state;
	add(1, false, 1000);
	lay_common(FIRST_PID, (int64_t)PAGES * PAGE_KIB);
	tick(0);
	assert_false(members[0].memory.reading->is_settled);
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_true(members[0].memory.reading->is_settled);
	tick(1);
	assert_int_equal(choice_of(0), READING_STILL_RIGHT);
}

static void test_a_reading_is_repeated_while_the_kernel_frees_a_relative(void **state)
{
	(void)state;
	add_family(3);
	for (int i = 0; i < 3; i++)
		members[i].memory.rollup_ns = 1000;
	members[2].memory.resident_pages = 0;
	members[2].memory.is_being_freed = true;
	tick(0);
	assert_false(members[0].memory.reading->is_settled);
	members[2].is_zombie = true;
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_true(members[0].memory.reading->is_settled);
}

static void test_sixteen_siblings_stand_for_the_others(void **state)
{
	(void)state;
	add_family(MEMBERS);
	tick(0);
	assert_int_equal(count_choices(READING_TAKEN), SIBLINGS_READ + 1);
	assert_int_equal(count_choices(READING_LIKE_SIBLINGS), MEMBERS - SIBLINGS_READ - 1);
	/* One of the others writes a lot: it is not like them any more. */
	assert_int_equal(choice_of(MEMBERS - 1), READING_LIKE_SIBLINGS);
	members[MEMBERS - 1].memory.faults = PAGES / 2;
	tick(1);
	assert_int_equal(choice_of(MEMBERS - 1), READING_TAKEN);
	assert_int_equal(choice_of(MEMBERS - 2), READING_LIKE_SIBLINGS);
}

static void test_a_refused_reading_is_tried_again_after_ten_seconds(void **state)
{
	(void)state;
	add(1, false, 1000);
	assert_int_equal(unlink("proc/100/smaps_rollup") + unlink("proc/100/maps"), 0);
	tick(0);
	assert_int_equal(choice_of(0), READING_REFUSED);
	lay_rollup(FIRST_PID, (int64_t)PAGES * PAGE_KIB, 0);
	tick(9);
	assert_int_equal(choice_of(0), READING_REFUSED);
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
}

static void test_many_files_beside_a_sampled_family_are_sampled(void **state)
{
	(void)state;
	add(1, false, NSEC_PER_SEC);
	add(2, false, 1000)->memory.shared_pages = MANY_FILES_KIB / PAGE_KIB;
	add(3, false, 1000)->memory.shared_pages = MANY_FILES_KIB / PAGE_KIB - 1;
	tick(0);
	assert_true(memory.families.at[0].sampled);
	assert_true(memory.families.at[1].sampled);
	assert_false(memory.families.at[2].sampled);
	/* Without a sampled family beside it, it is not. */
	members[0].memory.rollup_ns = 1000;
	tick(1);
	assert_false(memory.families.at[1].sampled);
}

static void test_a_sampled_family_returns_to_rollups_well_below_the_limit(void **state)
{
	(void)state;
	add(1, false, 2 * NSEC_PER_MSEC);
	add(2, false, NSEC_PER_MSEC);
	tick(0);
	assert_true(memory.families.at[0].sampled);
	assert_false(memory.families.at[1].sampled);
	members[0].memory.rollup_ns = NSEC_PER_MSEC;
	tick(1);
	assert_true(memory.families.at[0].sampled);
	members[0].memory.rollup_ns = NSEC_PER_MSEC / 2;
	tick(1);
	assert_false(memory.families.at[0].sampled);
}

/* Its pages were common with the fork alone, so they are its own now, although nothing of it changed. */
static void test_a_parent_is_read_again_once_its_fork_has_freed_pages(void **state)
{
	(void)state;
	add_family(3);
	tick(0);
	tick(1);
	assert_int_equal(choice_of(0), READING_STILL_RIGHT);
	for (int i = 1; i < 3; i++) {
		members[i].memory.resident_pages = 8;
		lay_size(FIRST_PID + i, 8, 0);
	}
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
}

/* As many page faults as new pages: they are its own. A huge page takes one fault, so faults explain nothing. */
static void test_growth_by_faults_needs_no_reading_without_huge_pages(void **state)
{
	(void)state;
	for (int huge = 0; huge < 2; huge++) {
		int64_t pages = PAGES + (huge + 1) * 256;

		if (!huge) {
			add_family(2);
			tick(0);
		}
		tree.memory.huge_kib = huge;
		members[1].memory.resident_pages = pages;
		members[1].memory.faults += 256;
		lay_size(FIRST_PID + 1, pages, 0);
		tick(1);
		assert_int_equal(choice_of(1), huge ? READING_TAKEN : READING_STILL_RIGHT);
	}
}

static void test_later_readings_have_less_than_the_first_ones(void **state)
{
	(void)state;
	add_family(MEMBERS);
	tick(0);
	assert_true(memory.allowance_ns > ALLOWANCE_SAVED_NS * 5);
	for (int i = 0; i < MEMBERS; i++)
		if (!members[i].memory.reading)
			members[i].memory.faults = PAGES;
	tick(1);
	tick(1);
	assert_true(memory.allowance_ns <= ALLOWANCE_SAVED_NS);
	/* A tick without time leaves them unread, and says how much that may be. */
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	members[1].memory.faults += PAGES / 2;
	tick(0);
	assert_int_equal(choice_of(1), READING_LATE);
	assert_true(memory.late_kib >= PAGES / 2 * PAGE_KIB);
}

/* 0.05 % of the time for one process, 0.1 % for each, 0.5 % for all, and less in a tree of more than a hundred. */
static void test_part_of_the_time_by_the_size_of_the_tree(void **state)
{
	static struct member many[400];
	static const struct {
		size_t members;
		double part;
	} CASES[] = {{1, 0.0005}, {3, 0.003}, {100, 0.005}, {200, 0.0025}, {400, 0.00125}};

	(void)state;
	tree.members = many;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		tree.count = memory.members_most = CASES[i].members;
		memory.allowance_ns = 0;
		memory.last_ns = now_ns - NSEC_PER_SEC;
		memory_schedule(&memory, &tree, PSS_MODE_OFF);
		assert_true(fabs(memory.allowance_ns - CASES[i].part * (double)NSEC_PER_SEC) < 1);
	}
	tree.members = members;
	tree.count = 0;
}

/* A wrapped job tells the marks at its end, so a few are read in each pass: 24 members take turns in four passes. */
static void test_members_of_a_wrapped_job_take_turns_for_their_marks(void **state)
{
	int read = 0;

	(void)state;
	add_family(MEMBERS);
	tree.started_by_caller = true;
	for (int i = 0; i < MEMBERS; i++) {
		lay(FIRST_PID + i, "status", "Name: x\nVmHWM: 5000 kB\nVmRSS: 4096 kB\n");
		members[i].memory.faults = 7;
	}
	for (int pass = 1; pass <= 4; pass++, tree.passes++) {
		for (int i = 0; i < MEMBERS; i++)
			memory_between_read_mark(&tree, &members[i], false);
		read = 0;
		for (int i = 0; i < MEMBERS; i++)
			read += members[i].memory.mark_kib == 5000;
		assert_int_equal(read, MEMBERS / 4 * pass);
	}
	assert_int_equal(tree.memory.largest_kib, 5000);
	/* Without a page fault a mark cannot rise. */
	lay(FIRST_PID, "status", "Name: x\nVmHWM: 9000 kB\nVmRSS: 4096 kB\n");
	tree.root_pid = FIRST_PID;
	memory_between_read_mark(&tree, &members[0], false);
	assert_int_equal(members[0].memory.mark_kib, 5000);
	members[0].memory.faults++;
	memory_between_read_mark(&tree, &members[0], false);
	assert_int_equal(members[0].memory.mark_kib, 9000);
}

static void test_a_reading_counts_for_ten_seconds(void **state)
{
	struct memory_reading reading = {.taken_ns = NSEC_PER_SEC};
	const struct member member = {.memory.reading = &reading};

	(void)state;
	assert_true(member_has_reading(&member, 11 * NSEC_PER_SEC));
	assert_false(member_has_reading(&member, 11 * NSEC_PER_SEC + 1));
	assert_false(member_has_reading(&(struct member){0}, 0));
}

/* vfork(2): the memory is that of the parent while that has it. */
static void test_a_shared_address_space_counts_with_its_parent(void **state)
{
	(void)state;
	add(1, false, 1000);
	add(2, true, 1000)->memory.shared_with = members[0].pid;
	assert_true(memory_is_counted(&tree, &members[0]));
	assert_false(memory_is_counted(&tree, &members[1]));
	members[0].memory.is_being_freed = true;
	assert_true(memory_is_counted(&tree, &members[1]));
	members[0].memory.is_being_freed = false;
	members[0].is_zombie = true;
	assert_true(memory_is_counted(&tree, &members[1]));
	assert_false(memory_is_counted(&tree, &members[0]));
	members[1].memory.resident_pages = 0;
	assert_false(memory_is_counted(&tree, &members[1]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_huge_pages_during_a_reading_hide_no_later_doubt),
		TEST(test_pages_that_an_unseen_fork_shares_are_read_again),
		TEST(test_a_reading_is_repeated_while_the_kernel_frees_a_relative),
		TEST(test_a_reading_of_a_process_that_maps_more_meanwhile_is_repeated),
		TEST(test_sixteen_siblings_stand_for_the_others),
		TEST(test_a_refused_reading_is_tried_again_after_ten_seconds),
		TEST(test_many_files_beside_a_sampled_family_are_sampled),
		TEST(test_a_sampled_family_returns_to_rollups_well_below_the_limit),
		TEST(test_a_parent_is_read_again_once_its_fork_has_freed_pages),
		TEST(test_growth_by_faults_needs_no_reading_without_huge_pages),
		TEST(test_later_readings_have_less_than_the_first_ones),
		TEST(test_part_of_the_time_by_the_size_of_the_tree),
		TEST(test_members_of_a_wrapped_job_take_turns_for_their_marks),
		TEST(test_a_reading_counts_for_ten_seconds),
		TEST(test_a_shared_address_space_counts_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
