/* Tests of src/job/pass.c: passes over processes whose CPU clocks are real. Their files are the test's. */
#include "job_processes.h"

#include <errno.h>

#include "base/cleanup.h"
#include "job/cpu/cpu_tuning.h"
#include "job/tree/tree_tuning.h"

/* The first process of the job, and its child. */
static pid_t root_pid, child;

static void put_state(pid_t pid, char state)
{
	put_process((struct written){.pid = pid - PIDS,
				     .real_parent = pid == root_pid ? 1 : root_pid,
				     .start = 11,
				     .state = state});
}

static void put_list(pid_t pid, const char *children)
{
	put_children(pid - PIDS, pid - PIDS, children);
}

static struct member *the(pid_t pid)
{
	return member_of(pid - PIDS);
}

static int begin_clocks(void **state)
{
	char list[20];

	root_pid = child = 0;
	if (begin_job(state) < 0)
		return -1;
	if (is_emulated())
		return 0;
	root_pid = start_still_process();
	child = start_still_process();
	put_state(root_pid, 'S');
	put_state(child, 'S');
	snprintf(list, sizeof list, "%d ", (int)child);
	put_list(root_pid, list);
	put_list(child, "");
	assert_int_equal(process_tree_seed(tree, root_pid, true), 0);
	tree->uses_clock = true;
	tree->fds_left = 1000;
	process_tree_touch(tree);
	assert_int_equal(tree->count, 2);
	return 0;
}

static int end_clocks(void **state)
{
	end_still_process(root_pid);
	end_still_process(child);
	return end_job(state);
}

/* ---- which members are read -------------------------------------------------------------------------------------- */

static void a_member_is_read_again_once_it_has_run(void **state)
{
	int64_t begun_ns = clock_ns;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_state(child, 'D');
	clock_ns += NSEC_PER_SEC;
	process_tree_touch(tree);
	assert_int_equal(the(child)->state, 'S');
	assert_int_equal(the(child)->quiet_ticks, 1);
	assert_int_equal(the(child)->read_ns, begun_ns);
	assert_int_equal(tree->changed_ns, begun_ns);
	let_run(child);
	process_tree_touch(tree);
	assert_int_equal(the(child)->state, 'D');
	assert_int_equal(the(child)->quiet_ticks, 0);
	assert_int_equal(the(child)->read_ns, clock_ns);
	assert_int_equal(tree->changed_ns, clock_ns);
	assert_int_equal(the(child)->cpu.account.own.of[USAGE_CPU_NS], process_clock_ns(child));
	assert_int_equal(the(root_pid)->quiet_ticks, 2);
}

/* The clock of a zombie stands still, but it may be about to be reaped. */
static void a_zombie_is_read_in_each_pass(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_state(child, 'Z');
	let_run(child);
	process_tree_touch(tree);
	assert_true(the(child)->is_zombie);
	put_state(child, 'X');
	process_tree_touch(tree);
	assert_int_equal(tree->count, 1);
	assert_int_equal(tree->exited_count, 1);
}

/* Its figures may change by others: that counts for the next plan. */
static void a_member_is_read_for_others_that_it_shares_with_or_carries(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_tree_touch(tree);
	assert_int_equal(tree->cpu.turns.ran_count, 0);
	put_state(child, 'D');
	the(child)->memory.shared_with = root_pid;
	process_tree_touch(tree);
	assert_int_equal(the(child)->state, 'D');
	assert_int_equal(tree->cpu.turns.ran_count, 1);
	put_state(child, 'R');
	the(child)->memory.shared_with = 0;
	process_tree_touch(tree);
	assert_int_equal(the(child)->state, 'D');
	the(child)->cpu.account.carries = true;
	process_tree_touch(tree);
	assert_int_equal(the(child)->state, 'R');
	/* One that has run is read in any case. */
	let_run(child);
	the(child)->cpu.account.carries = true;
	process_tree_touch(tree);
	assert_int_equal(tree->cpu.turns.ran_count, 1);
}

/* A pass as if 1,300 members had run in the last one, which makes eleven turns. */
static void touch_in_turn(bool is_turn_of_child)
{
	/* The pass adds one. */
	tree->passes = 11 * 100 + (size_t)child % 11 - (is_turn_of_child ? 1 : 0);
	tree->cpu.turns.ran_count = 10 * TURNS_A_PASS;
	tree->cpu.turns.ran_ns = INT64_MAX / TURNS_MUCH;
	process_tree_touch(tree);
}

static void a_member_that_has_run_waits_for_its_turn(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_state(child, 'D');
	let_run(child);
	touch_in_turn(false);
	assert_true(the(child)->is_behind);
	assert_int_equal(the(child)->state, 'S');
	/* Its clock is read in each pass. */
	assert_int_equal(the(child)->cpu.account.own.of[USAGE_CPU_NS], process_clock_ns(child));
	touch_in_turn(false);
	assert_true(the(child)->is_behind);
	touch_in_turn(true);
	assert_false(the(child)->is_behind);
	assert_int_equal(the(child)->state, 'D');
	/* It has not run since. */
	put_state(child, 'S');
	touch_in_turn(true);
	assert_int_equal(the(child)->state, 'D');
}

static void a_member_that_waits_for_its_turn_is_read_with_all(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_state(child, 'D');
	let_run(child);
	touch_in_turn(false);
	assert_int_equal(the(child)->state, 'S');
	clock_ns += TREE_READ_ANYWAY_NS;
	touch_in_turn(false);
	assert_int_equal(the(child)->state, 'D');
}

/* A child is compared with the parent that it was forked from. */
static void a_member_that_has_forked_does_not_wait(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_process((struct written){.pid = 200, .real_parent = child, .start = 12});
	put_list(child, "7000200 ");
	put_state(child, 'D');
	let_run(child);
	touch_in_turn(false);
	assert_false(the(child)->is_behind);
	assert_int_equal(the(child)->state, 'D');
	assert_true(the(child)->is_parent);
}

/* ---- the memory and the files of a member that sleeps ------------------------------------------------------------ */

static void the_size_of_a_member_that_sleeps_is_read_every_ten_seconds(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_below_proc(child, "statm", "1000 50 5 1 0 20 0\n");
	let_run(child);
	process_tree_touch(tree);
	assert_int_equal(the(child)->memory.resident_pages, 50);
	put_below_proc(child, "statm", "1000 70 5 1 0 20 0\n");
	process_tree_touch(tree);
	assert_int_equal(the(child)->memory.resident_pages, 50);
	clock_ns += TREE_READ_ANYWAY_NS;
	process_tree_touch(tree);
	assert_int_equal(the(child)->memory.resident_pages, 70);
	assert_int_equal(the(child)->quiet_ticks, 2);
}

/* That of its size stays open, because others change it. */
static void the_files_of_a_member_that_sleeps_are_closed(void **state)
{
	int64_t left;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_below_proc(child, "statm", "1000 50 5 1 0 20 0\n");
	let_run(child);
	process_tree_touch(tree);
	while (the(child)->quiet_ticks < TREE_QUIET_PASSES_KEPT - 1) {
		assert_true(the(child)->files[FILE_STAT] >= 0);
		assert_true(the(child)->files[FILE_STATM] >= 0);
		process_tree_touch(tree);
	}
	left = tree->fds_left;
	assert_true(the(child)->files[FILE_STAT] >= 0);
	process_tree_touch(tree);
	assert_true(the(child)->files[FILE_STAT] < 0);
	assert_true(the(child)->files[FILE_CHILDREN] < 0);
	assert_true(the(child)->files[FILE_STATM] >= 0);
	assert_true(tree->fds_left > left);
	let_run(child);
	process_tree_touch(tree);
	assert_true(the(child)->files[FILE_STAT] >= 0);
}

static void a_tree_closes_the_files_of_its_members(void **state)
{
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	let_run(root_pid);
	process_tree_touch(tree);
	fd = the(root_pid)->files[FILE_STAT];
	assert_true(fcntl(fd, F_GETFD) >= 0);
	process_tree_free(tree);
	assert_true(fcntl(fd, F_GETFD) < 0);
	tree = NULL;
	/* Then there is none. */
	process_tree_free(tree);
}

/* ---- children of members that sleep ------------------------------------------------------------------------------ */

/* The child in the list has gone by the time that its clock is asked. */
static bool lists_children(void)
{
	int64_t before = tree->exited_count;

	process_tree_touch(tree);
	return tree->exited_count > before;
}

static void children_of_a_sleeper_are_listed_for_a_reason(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	while (the(child)->quiet_ticks < 5)
		process_tree_touch(tree);
	put_process((struct written){.pid = 200, .real_parent = child, .start = 12});
	put_list(child, "7000200 ");
	assert_false(lists_children());
	/* There was no room for some of them. */
	the(child)->has_more = true;
	assert_true(lists_children());
	assert_false(lists_children());
	clock_ns += TREE_READ_ANYWAY_NS;
	assert_true(lists_children());
	/* It was found by another way, and was not listed yet. */
	the(child)->listed = false;
	assert_true(lists_children());
}

/* ---- looks ------------------------------------------------------------------------------------------------------- */

static void a_look_finds_the_children_of_members_that_have_run(void **state)
{
	int64_t changed_ns = tree->changed_ns;
	size_t passes = tree->passes;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	clock_ns += NSEC_PER_SEC;
	put_process((struct written){.pid = 200, .real_parent = child, .start = 12});
	put_list(child, "7000200 ");
	put_state(child, 'D');
	assert_false(process_tree_look(tree));
	assert_int_equal(tree->count, 2);
	assert_int_equal(tree->changed_ns, changed_ns);
	let_run(child);
	assert_true(process_tree_look(tree));
	assert_int_equal(tree->count, 3);
	/* The next pass takes it for new. No figure was read. */
	assert_int_equal(member_of(200)->seen_pass, passes + 1);
	assert_int_equal(the(child)->seen_pass, passes);
	assert_int_equal(the(child)->state, 'S');
	assert_int_equal(tree->passes, passes);
	assert_int_equal(tree->changed_ns, clock_ns);
	assert_int_equal(tree->touched_ns, clock_ns);
	assert_false(process_tree_look(tree));
}

/* ---- a live machine ---------------------------------------------------------------------------------------------- */

static int seed_live(const char *self)
{
	int error;

	process_tree_free(tree);
	assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	(void)unlink("proc/self");
	if (self)
		assert_int_equal(symlink(self, "proc/self"), 0);
	job_root.live = true;
	error = process_tree_seed(tree, root_pid, true);
	job_root.live = false;
	return error;
}

/* In a PID namespace, /proc may be that of another one. */
static void the_processes_of_another_namespace_are_refused(void **state)
{
	char own[20], other[20];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(own, sizeof own, "%d", (int)getpid());
	snprintf(other, sizeof other, "%d", (int)getpid() + 1);
	assert_int_equal(seed_live(NULL), -EXDEV);
	assert_int_equal(seed_live("name"), -EXDEV);
	assert_int_equal(seed_live(other), -EXDEV);
	assert_int_equal(seed_live(own), 0);
	assert_true(tree->uses_clock);
	assert_true(tree->fds_left > 0);
}

#define CLOCK_TEST(function) cmocka_unit_test_setup_teardown(function, begin_clocks, end_clocks)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		CLOCK_TEST(a_member_is_read_again_once_it_has_run),
		CLOCK_TEST(a_zombie_is_read_in_each_pass),
		CLOCK_TEST(a_member_is_read_for_others_that_it_shares_with_or_carries),
		CLOCK_TEST(a_member_that_has_run_waits_for_its_turn),
		CLOCK_TEST(a_member_that_waits_for_its_turn_is_read_with_all),
		CLOCK_TEST(a_member_that_has_forked_does_not_wait),
		CLOCK_TEST(the_size_of_a_member_that_sleeps_is_read_every_ten_seconds),
		CLOCK_TEST(the_files_of_a_member_that_sleeps_are_closed),
		CLOCK_TEST(a_tree_closes_the_files_of_its_members),
		CLOCK_TEST(children_of_a_sleeper_are_listed_for_a_reason),
		CLOCK_TEST(a_look_finds_the_children_of_members_that_have_run),
		CLOCK_TEST(the_processes_of_another_namespace_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
