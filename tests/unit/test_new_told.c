/* Tests of src/job/new_members.c: new processes that the listener of the job tells. Their files are the test's. */
#include "job_processes.h"
#include "said_listener.h"

#include <errno.h>

#include "base/cleanup.h"
#include "job/cpu/cpu_tuning.h"
#include "job/programs/programs.h"
#include "job/tree/tree_tuning.h"

enum { OUTSIDE = 500000 }; /* no process has such a number below PIDS + OUTSIDE */

static pid_t children[2];

/* A job of 100 and its listener, which has told nothing yet. */
static void begin_listening(bool started_by_caller)
{
	memset(&said, 0, sizeof said);
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_children(100, 100, "");
	assert_int_equal(programs_new(true, &tree->programs), 0);
	assert_int_equal(process_tree_seed(tree, PIDS + 100, started_by_caller), 0);
}

static int begin_told(void **state)
{
	int error = begin_job(state);

	memset(children, 0, sizeof children);
	if (error)
		return error;
	begin_listening(true);
	/* Its numbers are not known, so that events alone can tell of new processes. */
	tree->uses_clock = tree->reads_all = true;
	tree->discovery.numbers_unknown = true;
	return 0;
}

static int end_told(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		end_still_process(children[i]);
	return end_job(state);
}

/* ---- forks of a job that the caller has started ------------------------------------------------------------------ */

/* Returns whether the listener's processes were all that is new. */
static bool hears(const pid_t *pids, ssize_t count)
{
	said.pids = pids;
	said.pid_count = count;
	discover_above(tree);
	return tree->discovery.tried_numbers;
}

static void put_child(pid_t pid, pid_t parent)
{
	put_process((struct written){.pid = pid - PIDS, .real_parent = parent, .start = 11});
}

static void a_fork_that_was_told_is_a_member(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	children[0] = start_still_process();
	put_child(children[0], PIDS + 100);
	memset(tree->discovery.foreign, 0xff, sizeof tree->discovery.foreign);
	assert_true(hears(children, 1));
	assert_int_equal(tree->count, 2);
	assert_true(tree->members[1].pid == children[0] && tree->members[1].by_number);
	/* The numbers of these processes were not looked at. */
	for (size_t i = 0; i < ARRAY_SIZE(tree->discovery.foreign); i++)
		assert_true(tree->discovery.foreign[i] == 0);
	assert_true(hears(NULL, 0));
	assert_int_equal(tree->count, 2);
}

static void a_fork_may_be_told_before_its_parent(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		children[i] = start_still_process();
	put_child(children[0], children[1]);
	put_child(children[1], PIDS + 100);
	assert_true(hears(children, 2));
	assert_int_equal(tree->count, 3);
	assert_int_equal(tree->members[1].pid, children[1]);
	assert_int_equal(tree->members[2].pid, children[0]);
}

static void forks_that_may_have_been_missed_are_looked_for_elsewhere(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_false(hears(NULL, -1));
	assert_true(tree->discovery.looked_at_numbers);
	tree->programs->exact = false;
	assert_false(hears(NULL, 0));
	tree->programs->exact = true;
	tree->programs->started = false;
	assert_false(hears(NULL, 0));
	tree->programs->started = true;
	assert_true(hears(NULL, 0));
}

/* Pids of processes that have gone, with those of `children` at the end. */
static const pid_t *gone_and(size_t child_count, size_t gone_count)
{
	static pid_t pids[8192];

	assert_true(gone_count + child_count <= ARRAY_SIZE(pids));
	for (size_t i = 0; i < gone_count; i++)
		pids[i] = PIDS + OUTSIDE + (pid_t)i;
	memcpy(pids + gone_count, children, child_count * sizeof *pids);
	return pids;
}

/* New processes are looked at as long as that costs less than the lists of children, and 64 in any case. */
static void many_forks_are_looked_for_in_the_lists(void **state)
{
	enum { MOST = 64 * COST_OF_STAT, STAT = COST_OF_STAT };

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(hears(gone_and(0, MOST), MOST));
	assert_false(hears(gone_and(0, MOST + 1), MOST + 1));
	children[0] = start_still_process();
	put_child(children[0], 1);
	assert_true(hears(gone_and(1, MOST - STAT), MOST - STAT + 1));
	assert_false(hears(gone_and(1, MOST - STAT + 1), MOST - STAT + 2));
	/* One whose file cannot be read costs as much. */
	remove_process(children[0] - PIDS);
	assert_true(hears(gone_and(1, MOST - STAT), MOST - STAT + 1));
	assert_false(hears(gone_and(1, MOST - STAT + 1), MOST - STAT + 2));
	/* Threads make the lists dear, but there is room for 4,096 pids at most. */
	tree->members[0].thread_count = 1000;
	assert_true(hears(gone_and(0, 4095), 4095));
	assert_false(hears(gone_and(0, 4096), 4096));
}

/* The programs are asked at the end of each pass, and told of the last one. */
static void a_pass_ends_with_that_of_the_programs(void **state)
{
	(void)state;
	tree->uses_clock = false;
	for (size_t i = 1; i <= 2; i++) {
		process_tree_touch(tree);
		assert_int_equal(tree->programs->pass, i);
	}
	assert_false(tree->is_last_pass || tree->programs->is_finished);
	process_tree_finish(tree);
	assert_true(tree->is_last_pass && tree->programs->is_finished);
}

/* Its last time is read before it is reaped, and counts for its program. */
static void a_process_that_is_reaped_counts_for_its_program(void **state)
{
	struct rusage usage = {.ru_utime = {.tv_usec = 300000}};

	(void)state;
	tree->uses_clock = false;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 20});
	process_tree_touch(tree);
	assert_int_equal(programs_of(tree->programs, PIDS + 100)->credited_ns, 200 * NSEC_PER_MSEC);
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 30, .state = 'Z'});
	process_tree_before_reap(tree, PIDS + 100);
	assert_int_equal(said.caught_up, 1);
	process_tree_add_exited(tree, PIDS + 100, &usage);
	assert_int_equal(programs_of(tree->programs, PIDS + 100)->credited_ns, 300 * NSEC_PER_MSEC);
}

/* ---- room for new members ---------------------------------------------------------------------------------------- */

/* On a live machine, more than 16 new members of a pass have to earn their time. */
static void leave_no_room(void)
{
	job_root.live = true;
	tree->passes = 3;
	tree->cpu.turns.new_count = TURNS_NEW_A_PASS;
	tree->cpu.turns.room.left_ns = 0;
	tree->cpu.turns.room.earned_ns = tree->touched_ns = clock_ns;
}

static void a_process_without_room_waits_for_a_later_pass(void **state)
{
	(void)state;
	put_child(PIDS + 200, PIDS + 100);
	leave_no_room();
	assert_int_equal(discover_process(tree, PIDS + 200), -EAGAIN);
	assert_int_equal(tree->cpu.turns.left_out, 1);
	assert_int_equal(tree->count, 1);
	put_children(100, 100, "7000200 ");
	discover_below(tree, 0);
	assert_true(tree->members[0].has_more);
	tree->cpu.turns.new_count = 0;
	discover_below(tree, 0);
	assert_false(tree->members[0].has_more);
	assert_members("100 200");
	assert_int_equal(tree->cpu.turns.new_count, 1);
	job_root.live = false;
}

/* The lists tell which of them belong to the job. */
static void told_forks_without_room_are_looked_for_in_the_lists(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	children[0] = start_still_process();
	put_child(children[0], PIDS + 100);
	leave_no_room();
	assert_false(hears(children, 1));
	assert_int_equal(tree->count, 1);
	assert_int_equal(tree->cpu.turns.left_out, 0);
	tree->cpu.turns.new_count = 0;
	assert_true(hears(children, 1));
	assert_int_equal(tree->count, 2);
	job_root.live = false;
}

/* ---- processes that have left an attached job -------------------------------------------------------------------- */

static int begin_attached(void **state)
{
	int error = begin_job(state);

	memset(children, 0, sizeof children);
	if (error)
		return error;
	begin_listening(false);
	assert_members("100");
	return 0;
}

static void hear_of_living(const pid_t *pids, ssize_t count)
{
	said.pids = pids;
	said.pid_count = count;
	discover_above(tree);
}

/* Nothing but the listener knows that 300 belongs to the job: its parent is outside. */
static void a_process_that_has_left_the_job_is_a_member(void **state)
{
	static const pid_t PIDS_TOLD[] = {PIDS + 100, PIDS + 200, PIDS + 300,
					  PIDS + 400, PIDS + 500, PIDS + 600};

	(void)state;
	put_process((struct written){.pid = 200, .parent = 100, .start = 11});
	put_process((struct written){.pid = 300, .parent = -1, .start = 11});
	put_process((struct written){.pid = 400, .parent = 300, .start = 12});
	put_process((struct written){.pid = 500, .parent = -1, .start = 12});
	process_tree_exclude(tree, PIDS + 500);
	hear_of_living(PIDS_TOLD, ARRAY_SIZE(PIDS_TOLD));
	/* The lists have the children of members, and of those that become members. */
	assert_members("100 300");
}

static void only_an_attached_job_with_descendants_has_strays(void **state)
{
	static const pid_t STRAY[] = {PIDS + 300};

	(void)state;
	put_process((struct written){.pid = 300, .parent = -1, .start = 11});
	tree->started_by_caller = true;
	hear_of_living(STRAY, 1);
	tree->started_by_caller = tree->with_children = false;
	hear_of_living(STRAY, 1);
	tree->with_children = true;
	tree->programs->started = false;
	hear_of_living(STRAY, 1);
	assert_members("100");
	tree->programs->started = true;
	hear_of_living(NULL, 0);
	assert_members("100");
	hear_of_living(STRAY, 1);
	assert_members("100 300");
}

/* Each pass looks at the next 256 of 600. */
static void many_strays_are_looked_at_in_several_passes(void **state)
{
	pid_t pids[600];

	(void)state;
	for (int i = 0; i < 600; i++)
		pids[i] = PIDS + 1000 + i;
	for (int i = 0; i < 2; i++) {
		put_process((struct written){.pid = 1167 + i, .parent = -1, .start = 11});
		put_process((struct written){.pid = 1425 + i, .parent = -1, .start = 11});
	}
	tree->passes = 2;
	hear_of_living(pids, 600);
	/* 512 to 599, and 0 to 167. */
	assert_members("100 1167");
	tree->passes = 3;
	/* One is a member, so that these are the processes 169 to 424 of the other 599. */
	hear_of_living(pids, 600);
	assert_members("100 1167 1425");
}

#define TOLD_TEST(name) cmocka_unit_test_setup_teardown(name, begin_told, end_told)
#define ATTACHED_TEST(name) cmocka_unit_test_setup_teardown(name, begin_attached, end_told)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TOLD_TEST(a_fork_that_was_told_is_a_member),
		TOLD_TEST(a_fork_may_be_told_before_its_parent),
		TOLD_TEST(forks_that_may_have_been_missed_are_looked_for_elsewhere),
		TOLD_TEST(many_forks_are_looked_for_in_the_lists),
		TOLD_TEST(a_pass_ends_with_that_of_the_programs),
		TOLD_TEST(a_process_that_is_reaped_counts_for_its_program),
		TOLD_TEST(a_process_without_room_waits_for_a_later_pass),
		TOLD_TEST(told_forks_without_room_are_looked_for_in_the_lists),
		ATTACHED_TEST(a_process_that_has_left_the_job_is_a_member),
		ATTACHED_TEST(only_an_attached_job_with_descendants_has_strays),
		ATTACHED_TEST(many_strays_are_looked_at_in_several_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
