/* Tests of src/job/new_members.c: new processes are found by their numbers. Those that exist are real, and their files are the test's. */
#include "job_processes.h"

#include "base/cleanup.h"
#include "job/tree/tree_tuning.h"

enum { OUTSIDE = 500000 }; /* no process has such a number below PIDS + OUTSIDE */

static pid_t child;

static void put_newest(int64_t pid)
{
	char text[80];

	snprintf(text, sizeof text, "0.10 0.20 0.30 1/100 %lld\n", (long long)pid);
	put_text("proc/loadavg", text);
}

/* A tree of the first process alone, that takes the test's file for the kernel's own. */
static void seed_again(void)
{
	process_tree_free(tree);
	assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	tree->uses_clock = tree->reads_all = true;
	tree->touched_ns = tree->discovery.newest_ns = clock_ns;
	tree->discovery.loadavg_file.fd = open("proc/loadavg", O_RDONLY | O_CLOEXEC);
}

static int begin_numbers(void **state)
{
	int error = begin_job(state);

	child = 0;
	if (error)
		return error;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_children(100, 100, "");
	put_newest(1);
	seed_again();
	return 0;
}

static int end_numbers(void **state)
{
	end_still_process(child);
	return end_job(state);
}

/* Whether all numbers after `first` were tried, as those up to `before` were by the pass before. */
static bool tries(int64_t first, int64_t before, int64_t last)
{
	tree->discovery.newest_pids[1] = first;
	tree->discovery.newest_pids[0] = before;
	put_newest(last);
	discover_above(tree);
	return tree->discovery.tried_numbers;
}

static void numbers_are_tried_if_they_are_few_and_recent(void **state)
{
	enum { FIRST = PIDS + OUTSIDE, LIST = COST_OF_LIST };
	static const struct {
		int64_t first, before, last, age_ns;
		bool tried;
	} CASES[] = {
		{FIRST, FIRST, FIRST, 0, true},
		{FIRST, FIRST, FIRST + LIST, 0, true},
		{FIRST, FIRST, FIRST + LIST + 1, 0, false},
		{FIRST, FIRST + 2, FIRST + LIST, NEWEST_AGE_NS, true},
		{FIRST, FIRST + 2, FIRST + LIST, NEWEST_AGE_NS + 1, false},
		{FIRST, FIRST + 2, FIRST + 1, 0, false},
		{FIRST, FIRST - 1, FIRST + 1, 0, false},
		{0, 0, 1, 0, false},
		{-1, 0, 1, 0, false},
	};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		tree->discovery.newest_ns = clock_ns - CASES[i].age_ns;
		assert_int_equal(tries(CASES[i].first, CASES[i].before, CASES[i].last), CASES[i].tried);
		assert_true(tree->discovery.looked_at_numbers);
		assert_int_equal(tree->discovery.newest_pids[1], CASES[i].before);
		assert_int_equal(tree->discovery.newest_pids[0], CASES[i].last);
		assert_int_equal(tree->discovery.newest_ns, clock_ns);
	}
	/* Once in a pass, and only where the lists are known, the clocks are, and descendants are wanted. */
	for (int i = 0; i < 4; i++) {
		tree->uses_clock = i != 0;
		tree->discovery.knows_children = i != 1;
		tree->with_children = i != 2;
		assert_int_equal(tries(FIRST, FIRST, FIRST), i == 3);
		assert_int_equal(tree->discovery.looked_at_numbers, i == 3);
	}
	/* lxcfs puts a file of its own in the place, which does not know the newest process. */
	kept_file_close(&tree->discovery.loadavg_file);
	assert_false(tries(FIRST, FIRST, FIRST));
	assert_true(tree->discovery.numbers_unknown);
	assert_int_equal(tree->discovery.newest_pids[0], 0);
	assert_false(tries(FIRST, FIRST, FIRST));
}

static struct member *append(int64_t thread_count)
{
	struct member member = {.pid = PIDS + 1000 + (pid_t)tree->count,
				.thread_count = thread_count,
				.files = {-1, -1, -1, -1, -1}};

	assert_int_equal(process_tree_reserve(tree), 0);
	process_tree_append(tree, &member);
	return &tree->members[tree->count - 1];
}

/* Sixteen lists cost as much as a look at the newest number. Those of threads cost more, and those that are not read nothing. */
static void numbers_are_tried_if_the_lists_cost_more(void **state)
{
	struct member *last;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	tree->reads_all = false;
	for (int i = 1; i < COST_OF_LISTS_LEAST / COST_OF_LIST; i++)
		(void)append(1);
	assert_false(tries(PIDS, PIDS, PIDS));
	assert_false(tree->discovery.looked_at_numbers);
	last = append(1);
	assert_true(tries(PIDS, PIDS, PIDS));
	last->is_zombie = true;
	assert_false(tries(PIDS, PIDS, PIDS));
	last->is_zombie = false;
	last->quiet_ticks = TREE_QUIET_PASSES_LISTED;
	assert_true(tries(PIDS, PIDS, PIDS));
	last->quiet_ticks++;
	assert_false(tries(PIDS, PIDS, PIDS));
	/* Much is paid to leave threads alone, even if none of their lists is due. */
	last->thread_count = 2;
	assert_true(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + COST_TO_SPARE_THREADS));
	assert_false(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + COST_TO_SPARE_THREADS + 1));
	last->quiet_ticks = 0;
	last->thread_count = 150;
	assert_true(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + 3000));
	assert_false(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + 3100));
	/* Two lists of each of 100 more. */
	for (int i = 0; i < 100; i++)
		(void)append(2);
	assert_true(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + 7000));
	assert_false(tries(PIDS + OUTSIDE, PIDS + OUTSIDE, PIDS + OUTSIDE + 7100));
}

static void a_process_is_found_by_its_number(void **state)
{
	static const struct {
		int start, parent;
		bool is_excluded, is_found;
	} CASES[] = {{11, 100, false, true},
		     {10, 100, false, true},
		     {9, 100, false, false},
		     {11, -1, false, false},
		     {11, 100, true, false}};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = start_still_process();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		put_process((struct written){
			.pid = child - PIDS, .parent = CASES[i].parent, .start = CASES[i].start});
		seed_again();
		tree->members[0].thread_count = 2;
		if (CASES[i].is_excluded)
			process_tree_exclude(tree, child);
		/* A member is not found again. */
		for (int again = 0; again < 2; again++) {
			assert_true(tries(child - 1, child - 1, child));
			assert_int_equal(tree->count, CASES[i].is_found ? 2 : 1);
			assert_int_equal(tree->members[0].is_parent, CASES[i].is_found);
		}
		if (CASES[i].is_found)
			assert_true(tree->members[1].pid == child && tree->members[1].by_number);
	}
}

/* The parent of a process was not in the job: its number is not tried again, among those of the last 1,024. */
static void a_number_outside_the_job_is_tried_once(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = start_still_process();
	tree->members[0].thread_count = 2;
	put_process((struct written){.pid = child - PIDS, .parent = -1, .start = 11});
	assert_true(tries(child - 1, child - 1, child));
	put_process((struct written){.pid = child - PIDS, .parent = 100, .start = 11});
	assert_true(tries(child - 1, child, child));
	assert_int_equal(tree->count, 1);
	assert_true(tries(child - 1, child, child + 1));
	assert_int_equal(tree->count, 1);
	/* The numbers between were not tried in the last pass. */
	assert_true(tries(child - 1, child - 1, child));
	assert_int_equal(tree->count, 2);
}

/* The file of a process costs more than one list. All numbers are then tried again, the foreign ones, too. */
static void numbers_that_cost_too_much_are_forgotten(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = start_still_process();
	put_process((struct written){.pid = child - PIDS, .parent = -1, .start = 11});
	assert_false(tries(child - 1, child - 1, child));
	put_process((struct written){.pid = child - PIDS, .parent = 100, .start = 11});
	tree->members[0].thread_count = 2;
	assert_true(tries(child - 1, child, child));
	assert_int_equal(tree->count, 2);
}

/* There is a bit for each of 1,024 numbers. */
static void a_foreign_number_is_known_among_the_last_1024(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = start_still_process();
	tree->members[0].thread_count = 2;
	put_process((struct written){.pid = child - PIDS, .parent = -1, .start = 11});
	assert_true(tries(child - 1, child - 1, child));
	put_process((struct written){.pid = child - PIDS, .parent = 100, .start = 11});
	(void)tries(child - 1, child + 1023, child + 1023);
	assert_int_equal(tree->count, 1);
	(void)tries(child - 1, child + 1024, child + 1024);
	assert_int_equal(tree->count, 2);
}

/* Their lists are not read then. */
static void numbers_are_tried_once_a_member_has_threads(void **state)
{
	(void)state;
	tree->reads_all = false;
	(void)tries(PIDS, PIDS, PIDS);
	discover_below(tree, 0);
	assert_false(tree->discovery.looked_at_numbers);
	tree->members[0].thread_count = 2;
	discover_below(tree, 0);
	assert_true(tree->discovery.looked_at_numbers);
}

/* The numbers show the children of all threads, but for those of a process that was there before its number was looked at. */
static void lists_of_threads_are_read_without_numbers(void **state)
{
	static const struct {
		bool tried, was_listed, by_number;
		const char *members;
	} CASES[] = {{true, true, false, "100 200"},
		     {true, false, true, "100 200"},
		     {true, false, false, "100 200 300"}};

	(void)state;
	put_children(100, 100, "7000200 ");
	put_children(100, 101, "7000300 ");
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	put_process((struct written){.pid = 300, .parent = 100, .start = 11});
	tree->members[0].thread_count = 2;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		tree->discovery.looked_at_numbers = true;
		tree->discovery.tried_numbers = CASES[i].tried;
		tree->members[0].listed = CASES[i].was_listed;
		tree->members[0].by_number = CASES[i].by_number;
		discover_below(tree, 0);
		assert_members(CASES[i].members);
		assert_true(tree->members[0].listed);
	}
}

static void all_threads_are_read_if_numbers_were_not_tried(void **state)
{
	(void)state;
	put_children(100, 101, "7000300 ");
	put_process((struct written){.pid = 300, .parent = 100, .start = 11});
	tree->members[0].thread_count = 2;
	tree->members[0].listed = tree->members[0].by_number = true;
	tree->discovery.looked_at_numbers = true;
	tree->discovery.tried_numbers = false;
	discover_below(tree, 0);
	assert_members("100 300");
}

/* A process that sleeps has its children listed in two passes more. */
static void children_are_listed_while_a_process_has_run_lately(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = start_still_process();
	for (int quiet = TREE_QUIET_PASSES_LISTED; quiet <= TREE_QUIET_PASSES_LISTED + 1; quiet++) {
		char file[40];

		process_tree_free(tree);
		assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
		put_process((struct written){.pid = child - PIDS, .parent = -1, .start = 10});
		put_process((struct written){.pid = 200, .parent = -1, .start = 11});
		snprintf(file, sizeof file, "task/%d/children", (int)child);
		put_below_proc(child, file, "");
		assert_int_equal(process_tree_seed(tree, child, true), 0);
		tree->uses_clock = true;
		for (int pass = 0; pass < quiet; pass++)
			process_tree_touch(tree);
		assert_int_equal(tree->count, 1);
		assert_int_equal(tree->members[0].quiet_ticks, quiet - 1);
		put_below_proc(child, file, "7000200 ");
		process_tree_touch(tree);
		assert_int_equal(tree->members[0].quiet_ticks, quiet);
		/* It has gone by the time that its clock is asked. */
		assert_int_equal(tree->exited_count, quiet <= TREE_QUIET_PASSES_LISTED);
	}
}

/* The kernel's own file tells the newest process. */
static void the_newest_number_is_that_of_the_kernel(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (access("/proc/loadavg", R_OK) < 0)
		SKIP("/proc has no loadavg");
	kept_file_close(&tree->discovery.loadavg_file);
	assert_int_equal(unlink("proc/loadavg"), 0);
	assert_int_equal(symlink("/proc/loadavg", "proc/loadavg"), 0);
	discover_above(tree);
	assert_false(tree->discovery.numbers_unknown);
	assert_true(tree->discovery.newest_pids[0] > 0);
}

/* The list of one thread stays open. With more threads, each may have the orphan. */
static void the_list_of_the_tracker_stays_open_for_one_thread(void **state)
{
	char file[60], path[60];
	struct stat status;

	(void)state;
	snprintf(file, sizeof file, "task/%d/children", (int)getpid());
	snprintf(path, sizeof path, "proc/%d/task", (int)getpid());
	put_below_proc(getpid(), file, "");
	assert_int_equal(stat(path, &status), 0);
	if (status.st_nlink != 3)
		SKIP("this file system does not count folders as links");
	discover_above(tree);
	assert_true(tree->discovery.own_children_file.fd >= 0);
	/* The program with the tracker has forked: the list that is open is that of its parent. */
	put_below_proc(getpid(), file, "7000200 ");
	put_process((struct written){.pid = 200, .parent = -1, .start = 11});
	put_text("others", "");
	kept_file_close(&tree->discovery.own_children_file);
	tree->discovery.own_children_file.fd = open("others", O_RDONLY | O_CLOEXEC);
	discover_above(tree);
	assert_members("100");
	strcpy(tree->discovery.own_children_path, "proc/1/task/1/children");
	discover_above(tree);
	assert_members("100 200");
	kept_file_close(&tree->discovery.own_children_file);
	snprintf(file, sizeof file, "task/%d/children", (int)getpid() + 1);
	put_below_proc(getpid(), file, "");
	discover_above(tree);
	assert_true(tree->discovery.own_children_file.fd < 0);
}

#define NUMBER_TEST(name) cmocka_unit_test_setup_teardown(name, begin_numbers, end_numbers)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		NUMBER_TEST(numbers_are_tried_if_they_are_few_and_recent),
		NUMBER_TEST(numbers_are_tried_if_the_lists_cost_more),
		NUMBER_TEST(a_process_is_found_by_its_number),
		NUMBER_TEST(a_number_outside_the_job_is_tried_once),
		NUMBER_TEST(numbers_that_cost_too_much_are_forgotten),
		NUMBER_TEST(a_foreign_number_is_known_among_the_last_1024),
		NUMBER_TEST(numbers_are_tried_once_a_member_has_threads),
		NUMBER_TEST(lists_of_threads_are_read_without_numbers),
		NUMBER_TEST(all_threads_are_read_if_numbers_were_not_tried),
		NUMBER_TEST(children_are_listed_while_a_process_has_run_lately),
		NUMBER_TEST(the_newest_number_is_that_of_the_kernel),
		NUMBER_TEST(the_list_of_the_tracker_stays_open_for_one_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
