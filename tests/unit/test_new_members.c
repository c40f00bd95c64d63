/* Tests of src/job/new_members.c: how new processes of a job are found in a /proc that the test writes. */
#include "job_processes.h"

#include <errno.h>

static void begin_with_lists(void)
{
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_children(100, 100, "");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
}

static void a_process_is_added_once(void **state)
{
	(void)state;
	begin_with_lists();
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .state = 'R', .threads = 2});
	assert_int_equal(discover_process(tree, PIDS + 200), 0);
	assert_int_equal(discover_process(tree, PIDS + 200), -EEXIST);
	assert_int_equal(discover_process(tree, PIDS + 100), -EEXIST);
	assert_int_equal(discover_process(tree, PIDS + 300), -ESRCH);
	assert_members("100 200");
	assert_int_equal(member_of(200)->parent_pid, PIDS + 100);
	assert_int_equal(member_of(200)->start_ticks, 11);
	assert_int_equal(member_of(200)->state, 'R');
	assert_int_equal(member_of(200)->thread_count, 2);
	assert_false(member_of(200)->is_zombie || member_of(200)->listed || member_of(200)->by_number);
	for (enum member_file i = 0; i < MEMBER_FILES; i++)
		assert_true(member_of(200)->files[i] < 0);
	assert_true(member_of(100)->is_parent && member_of(100)->has_forked);
	assert_false(member_of(200)->is_parent || member_of(200)->has_forked);
	put_process((struct written){.pid = 300, .parent = 200, .start = 11, .state = 'Z'});
	put_process((struct written){.pid = 400, .parent = 200, .start = 11, .state = 'Z', .threads = 2});
	assert_int_equal(discover_process(tree, PIDS + 300), 0);
	assert_int_equal(discover_process(tree, PIDS + 400), 0);
	assert_true(member_of(300)->is_zombie);
	assert_false(member_of(400)->is_zombie);
}

/* The list is copied in parts, because a new member's file overwrites it. */
static void assert_long_list(int count)
{
	static char list[20 * 1000];
	size_t length = 0;

	for (int i = 1; i <= count; i++) {
		put_process((struct written){.pid = 1000 + i, .parent = 100, .start = 11});
		length += (size_t)snprintf(list + length, sizeof list - length, "%d ", PIDS + 1000 + i);
	}
	put_children(100, 100, list);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 1 + count);
	for (int i = 1; i <= count; i++)
		assert_int_equal(tree->members[i].pid, PIDS + 1000 + i);
}

static void a_long_list_of_children_is_taken_whole(void **state)
{
	static const int COUNTS[] = {255, 256, 257, 512, 600};

	(void)state;
	begin_with_lists();
	for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
		assert_long_list(COUNTS[i]);
}

/* The file of a new member is longer than the part of the list before it. */
static void a_long_file_of_a_child_overwrites_no_list(void **state)
{
	static char list[20 * 300], stat[8000];
	size_t length = 0;

	(void)state;
	begin_with_lists();
	for (int i = 1; i <= 300; i++)
		length += (size_t)snprintf(list + length, sizeof list - length, "%d ", PIDS + 1000 + i);
	put_children(100, 100, list);
	put_process((struct written){.pid = 1300, .parent = 100, .start = 11});
	memset(stat, ' ', sizeof stat - 1);
	length = (size_t)snprintf(
		stat, sizeof stat,
		"%d (job) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 11 4096 10 0 1 2 3 0 0 0 0 0 0",
		PIDS + 1001, PIDS + 100);
	stat[length] = ' ';
	put_below_proc(PIDS + 1001, "stat", stat);
	process_tree_touch(tree);
	assert_members("100 1001 1300");
}

static void children_of_all_threads_are_found(void **state)
{
	(void)state;
	begin_with_lists();
	put_children(100, 100, "7000200 ");
	put_children(100, 101, "7000300 ");
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	put_process((struct written){.pid = 300, .parent = 100, .start = 11});
	/* A process of one thread has no other lists. */
	process_tree_touch(tree);
	assert_members("100 200");
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .threads = 2});
	process_tree_touch(tree);
	assert_members("100 200 300");
}

static void an_excluded_child_stays_out(void **state)
{
	(void)state;
	begin_with_lists();
	put_children(100, 100, "7000200 7000300 ");
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	put_process((struct written){.pid = 300, .parent = 100, .start = 11});
	process_tree_exclude(tree, PIDS + 200);
	process_tree_touch(tree);
	assert_members("100 300");
}

/* ---- without lists of children ---------------------------------------------------------------------------------- */

/* In the folder a child may stand before its parent, because numbers begin again from the smallest. */
static void a_search_finds_descendants_in_any_order(void **state)
{
	(void)state;
	put_process((struct written){.pid = 500, .parent = -1, .start = 10});
	put_process((struct written){.pid = 300, .parent = 500, .start = 10});
	put_process((struct written){.pid = 900, .parent = 300, .start = 12});
	put_process((struct written){.pid = 100, .parent = 900, .start = 13});
	put_process((struct written){.pid = 200, .parent = 100, .start = 13});
	/* These began before the process that has their parent's number now, or are outside. */
	put_process((struct written){.pid = 600, .parent = 300, .start = 9});
	put_process((struct written){.pid = 700, .parent = -1, .start = 20});
	put_process((struct written){.pid = 800, .parent = 700, .start = 20});
	put_process((struct written){.pid = 400, .parent = 500, .start = 20});
	put_process((struct written){.pid = 450, .parent = 400, .start = 20});
	process_tree_exclude(tree, PIDS + 400);
	assert_int_equal(process_tree_seed(tree, PIDS + 500, true), 0);
	assert_false(tree->discovery.knows_children);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 5);
	for (int pid = 100; pid <= 900; pid += 100)
		assert_int_equal(process_tree_find(tree, PIDS + pid) != NULL,
				 pid <= 300 || pid == 500 || pid == 900);
	for (size_t i = 1; i < tree->count; i++)
		assert_true(process_tree_find(tree, tree->members[i].parent_pid) < &tree->members[i]);
}

static void a_process_without_children_is_wanted_alone(void **state)
{
	(void)state;
	process_tree_free(tree);
	assert_int_equal(process_tree_new(&job_root, false, &tree), 0);
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	assert_true(member_of(100)->listed);
	process_tree_touch(tree);
	assert_members("100");
}

/* ---- the tracker's own children ------------------------------------------------------------------------------------ */

static void put_own_children(int thread, const char *children)
{
	char file[60];

	snprintf(file, sizeof file, "task/%d/children", thread);
	put_below_proc(getpid(), file, children);
}

static void children_from_before_are_excluded(void **state)
{
	(void)state;
	discover_excluded(tree);
	assert_int_equal(tree->excluded_count, 0);
	assert_false(tree->discovery.knows_children);
	put_own_children(getpid(), "7000700 7000800 ");
	discover_excluded(tree);
	assert_true(tree->discovery.knows_children);
	assert_true(process_tree_excludes(tree, PIDS + 700) && process_tree_excludes(tree, PIDS + 800));
	assert_false(process_tree_excludes(tree, PIDS + 100));
	/* The process that is named as the job is the job. */
	put_process((struct written){.pid = 700, .parent = -1, .start = 10});
	assert_int_equal(process_tree_seed(tree, PIDS + 700, true), 0);
	assert_false(process_tree_excludes(tree, PIDS + 700));
	assert_true(process_tree_excludes(tree, PIDS + 800));
}

static void orphans_come_to_the_tracker(void **state)
{
	(void)state;
	begin_with_lists();
	put_own_children(getpid(), "7000100 7000200 ");
	put_process((struct written){.pid = 200, .parent = -1, .start = 11});
	process_tree_touch(tree);
	assert_members("100 200");
	/* With more threads, any of them may have the orphan. */
	put_own_children(getpid() + 1, "7000300 ");
	put_process((struct written){.pid = 300, .parent = -1, .start = 11});
	process_tree_touch(tree);
	assert_members("100 200 300");
}

/* The children of an attached job's tracker are none of the job's. */
static void an_attached_job_gets_no_orphans(void **state)
{
	(void)state;
	put_own_children(getpid(), "7000200 ");
	put_process((struct written){.pid = 200, .parent = -1, .start = 11});
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_children(100, 100, "");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), 0);
	process_tree_touch(tree);
	assert_members("100");
}

static void the_root_of_a_started_job_has_numbers_behind_its_own(void **state)
{
	(void)state;
	begin_with_lists();
	assert_true(tree->discovery.knows_children);
	assert_true(member_of(100)->by_number);
	assert_false(member_of(100)->listed);
	assert_int_equal(tree->discovery.newest_pids[0], PIDS + 100);
	assert_int_equal(tree->discovery.newest_pids[1], PIDS + 100);
	assert_int_equal(tree->discovery.newest_ns, 100 * NSEC_PER_SEC);
}

/* ---- between passes, and new parents ------------------------------------------------------------------------------- */

static void an_early_look_leaves_the_list_to_the_pass(void **state)
{
	(void)state;
	begin_with_lists();
	put_children(100, 100, "7000200 ");
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	tree->discovery.tried_numbers = true;
	discover_below_early(tree, 0);
	assert_members("100");
	tree->discovery.tried_numbers = false;
	/* Another process has its number. */
	put_process((struct written){.pid = 100, .parent = -1, .start = 11});
	discover_below_early(tree, 0);
	assert_members("100");
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	discover_below_early(tree, 0);
	assert_members("100 200");
	assert_false(member_of(100)->listed);
	discover_below(tree, 0);
	assert_true(member_of(100)->listed);
}

static void assert_parent(int pid, int parent)
{
	assert_int_equal(member_of(pid)->parent_pid, parent < 0 ? 1 : PIDS + parent);
}

static void an_ancestor_is_the_likely_new_parent(void **state)
{
	(void)state;
	begin_with_lists();
	for (int i = 2; i <= 5; i++) {
		put_process((struct written){.pid = 100 * i, .parent = 100 * (i - 1), .start = 9 + i});
		assert_int_equal(discover_process(tree, PIDS + 100 * i), 0);
	}
	/* All parents are there, so that none is asked for. */
	put_process((struct written){.pid = 500, .parent = 100, .start = 14});
	discover_new_parents(tree);
	assert_parent(500, 400);
	remove_process(500);
	discover_new_parents(tree);
	assert_parent(500, 400);
	/* Two in a row have. The process cannot be asked any more. */
	member_of(300)->vanished = member_of(400)->vanished = true;
	member_of(500)->parent_reaped = true;
	discover_new_parents(tree);
	assert_parent(500, 200);
	assert_parent(400, 300);
	assert_true(member_of(500)->parent_reaped);
	/* It can, and the kernel has given it to another. */
	member_of(500)->parent_pid = PIDS + 400;
	put_process((struct written){.pid = 500, .parent = 100, .start = 15});
	discover_new_parents(tree);
	assert_parent(500, 200);
	member_of(500)->parent_pid = PIDS + 400;
	put_process((struct written){.pid = 500, .parent = 100, .start = 14});
	discover_new_parents(tree);
	assert_parent(500, 100);
	assert_false(member_of(500)->parent_reaped);
	/* With all of them, it goes to the parent of the first. */
	member_of(100)->vanished = member_of(200)->vanished = true;
	member_of(500)->parent_pid = PIDS + 400;
	remove_process(500);
	discover_new_parents(tree);
	assert_parent(500, -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		JOB_TEST(a_process_is_added_once),
		JOB_TEST(a_long_list_of_children_is_taken_whole),
		JOB_TEST(a_long_file_of_a_child_overwrites_no_list),
		JOB_TEST(children_of_all_threads_are_found),
		JOB_TEST(an_excluded_child_stays_out),
		JOB_TEST(a_search_finds_descendants_in_any_order),
		JOB_TEST(a_process_without_children_is_wanted_alone),
		JOB_TEST(children_from_before_are_excluded),
		JOB_TEST(orphans_come_to_the_tracker),
		JOB_TEST(an_attached_job_gets_no_orphans),
		JOB_TEST(the_root_of_a_started_job_has_numbers_behind_its_own),
		JOB_TEST(an_early_look_leaves_the_list_to_the_pass),
		JOB_TEST(an_ancestor_is_the_likely_new_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
