/* Tests of src/job/cpu/process_heir.c and the sums of src/job/tree/process_tree.c: each CPU time counts once. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burner.h"
#include "job/cpu/job_cpu.h"
#include "job/cpu/process_heir.h"
#include "job/pass.h"
#include "scratch.h"

enum { ROOT = 100, SUBREAPER, PARENT, CHILD, GRANDCHILD, TRIES = 10000 };
#define TICK_NS (10 * NSEC_PER_MSEC)
#define BURN_NS (60 * NSEC_PER_MSEC)

static struct root root;
static struct process_tree *tree;

static int set_up(void **state)
{
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | mkdir("cgroup", 0755) | root_open(&root, ".", NULL);
	root.clock_ticks = NSEC_PER_SEC / TICK_NS;
	return error ? error : process_tree_new(&root, true, &tree);
}

static int tear_down(void **state)
{
	if (tree->cgroup_folder >= 0)
		close(tree->cgroup_folder);
	process_tree_free(tree);
	root_close(&root);
	return scratch_leave(state);
}

/* A process of /proc, with its CPU time and that of its waited-for children. */
static void lay(pid_t pid, pid_t parent, char state, int ticks, int waited_ticks)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "proc/%d", (int)pid);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
	snprintf(text, sizeof text,
		 "%d (x) %c %d 1 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n", (int)pid,
		 state, (int)parent, ticks, waited_ticks);
	put_text(path, text);
}

static void take_away(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof path, "proc/%d", (int)pid);
	assert_int_equal(rmdir(path), 0);
}

static void lay_group(int ticks)
{
	char text[64];

	snprintf(text, sizeof text, "usage_usec %lld\n", (long long)ticks * TICK_NS / NSEC_PER_USEC);
	put_text("cgroup/cpu.stat", text);
	if (tree->cgroup_folder < 0)
		tree->cgroup_folder = open("cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void seed(pid_t pid)
{
	assert_int_equal(process_tree_seed(tree, pid, true), 0);
	process_tree_touch(tree);
}

static void expect_after_pass(int ticks)
{
	process_tree_touch(tree);
	assert_int_equal(tree->cpu.account.published.of[USAGE_CPU_NS], ticks * TICK_NS);
}

/*
 * The parent ignores SIGCHLD, so the child's 10 ticks appear in no process. The kernel rounds the parent's waited-for time
 * down, and 3 ticks of earlier children appear in it later.
 */
static void test_an_estimate_is_not_taken_above_the_group(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 1, 0);
	lay(CHILD, ROOT, 'R', 10, 0);
	lay_group(14);
	seed(ROOT);
	expect_after_pass(14);
	take_away(CHILD);
	expect_after_pass(14);
	expect_after_pass(14);
	lay(ROOT, 1, 'S', 1, 3);
	lay_group(15);
	expect_after_pass(15);
	/* The estimate does not move to an heir of its heir as a fact either. */
	lay(PARENT, ROOT, 'R', 1, 0);
	lay(GRANDCHILD, PARENT, 'R', 10, 0);
	lay_group(26);
	expect_after_pass(26);
	take_away(GRANDCHILD);
	expect_after_pass(26);
	expect_after_pass(26);
	take_away(PARENT);
	lay(ROOT, 1, 'S', 1, 4);
	expect_after_pass(26);
	lay(ROOT, 1, 'S', 1, 7);
	expect_after_pass(26);
}

static void test_a_process_that_left_the_group_counts(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 1, 0);
	lay(CHILD, ROOT, 'R', 10, 0);
	lay_group(11);
	seed(ROOT);
	lay(CHILD, ROOT, 'R', 50, 0);
	lay_group(12);
	expect_after_pass(51);
	/* Its parent has its time. */
	take_away(CHILD);
	lay(ROOT, 1, 'S', 1, 50);
	expect_after_pass(51);
}

static void lay_chain(int subreaper_waited, int parent_waited)
{
	lay(ROOT, 1, 'S', 1, 0);
	lay(SUBREAPER, ROOT, 'S', 1, subreaper_waited);
	lay(PARENT, SUBREAPER, 'S', 1, parent_waited);
}

/* Tracking begins when the child has a child of its own that has used 200 ticks. */
static void begin_with_a_grandchild(char state_of_child)
{
	lay_chain(0, 0);
	lay(CHILD, PARENT, state_of_child, 1, 0);
	lay(GRANDCHILD, CHILD, 'R', 200, 0);
	seed(ROOT);
}

/* All ends are between two passes. The order in which the two ancestors are read decides when their figures show it. */
static void test_an_orphan_counts_where_a_subreaper_has_waited(void **state)
{
	for (int late = 0; late < 2; late++) {
		if (late)
			assert_int_equal(tear_down(state) | set_up(state), 0);
		begin_with_a_grandchild('S');
		expect_after_pass(204);
		take_away(CHILD);
		take_away(GRANDCHILD);
		lay_chain(late ? 0 : 200, 0);
		/* The tick of the child is below the tolerance. */
		expect_after_pass(204);
		lay_chain(200, 1);
		expect_after_pass(204);
		lay_chain(220, 1);
		expect_after_pass(224);
	}
}

/* The child ended first: its parent had waited for it, and the growth of an ancestor has other causes. */
static void test_a_child_that_ended_before_its_parent_counts_there(void **state)
{
	(void)state;
	begin_with_a_grandchild('S');
	take_away(CHILD);
	take_away(GRANDCHILD);
	lay_chain(50, 201);
	expect_after_pass(254);
	expect_after_pass(254);
}

/* The child's parent is a zombie, which cannot wait for it any more. */
static void test_an_orphan_of_a_zombie_counts_once(void **state)
{
	(void)state;
	begin_with_a_grandchild('Z');
	expect_after_pass(204);
	take_away(GRANDCHILD);
	lay_chain(200, 0);
	expect_after_pass(204);
	take_away(CHILD);
	lay_chain(200, 1);
	expect_after_pass(204);
	expect_after_pass(204);
}

/* Both end while a pass runs: after the reading of the parent, and before that of the child. */
static void test_an_orphan_counts_once_if_both_end_during_a_pass(void **state)
{
	for (int zombie = 0; zombie < 2; zombie++) {
		if (zombie)
			assert_int_equal(tear_down(state) | set_up(state), 0);
		lay_chain(0, 0);
		lay(CHILD, PARENT, 'S', 1, 0);
		lay(GRANDCHILD, CHILD, 'R', 200, 0);
		seed(ROOT);
		expect_after_pass(204);
		take_away(GRANDCHILD);
		expect_after_pass(204);
		lay_chain(200, zombie ? 0 : 1);
		if (zombie)
			lay(CHILD, PARENT, 'Z', 1, 0);
		else
			take_away(CHILD);
		expect_after_pass(204);
		expect_after_pass(204);
	}
}

/* A process without figures of its own may have had a child with some. */
static void test_an_orphan_of_an_idle_process_counts_once(void **state)
{
	(void)state;
	lay_chain(0, 0);
	lay(CHILD, PARENT, 'S', 0, 0);
	lay(GRANDCHILD, CHILD, 'R', 200, 0);
	seed(ROOT);
	expect_after_pass(203);
	take_away(CHILD);
	take_away(GRANDCHILD);
	lay_chain(200, 0);
	expect_after_pass(203);
	expect_after_pass(203);
}

/* The parent is about to wait for its child. Its own parent has waited for others. */
static void test_the_growth_of_an_ancestor_has_other_causes(void **state)
{
	(void)state;
	lay_chain(0, 0);
	lay(CHILD, PARENT, 'R', 200, 0);
	lay(GRANDCHILD, SUBREAPER, 'R', 100, 0);
	seed(ROOT);
	expect_after_pass(303);
	take_away(CHILD);
	take_away(GRANDCHILD);
	lay_chain(300, 0);
	expect_after_pass(503);
	lay_chain(300, 200);
	expect_after_pass(503);
}

/* The figures of a process that the caller has reaped have those of its last children. */
static void test_a_child_of_a_reaped_process_has_no_heir(void **state)
{
	struct member gone = {.pid = CHILD, .parent_pid = PARENT, .vanished = true};

	(void)state;
	gone.cpu.account.own.of[USAGE_CPU_NS] = 5 * TICK_NS;
	gone.parent_reaped = true;
	heir_take(tree, &gone);
	assert_int_equal(tree->cpu.account.retired.of[USAGE_CPU_NS], 0);
	gone.parent_reaped = false;
	heir_take(tree, &gone);
	assert_int_equal(tree->cpu.account.retired.of[USAGE_CPU_NS], 5 * TICK_NS);
}

static bool sleeps(pid_t pid)
{
	char path[64], text[1024];
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	length = read(fd, text, sizeof text - 1);
	close(fd);
	assert_true(length > 0);
	text[length] = '\0';
	return strstr(text, ") S ") != NULL;
}

/* Passes until the process sleeps and its clock stands still. */
static struct member *rest(pid_t pid)
{
	for (int i = 0; i < TRIES && !(sleeps(pid) && process_tree_find(tree, pid)->quiet_ticks); i++) {
		usleep(1000);
		process_tree_touch(tree);
	}
	return process_tree_find(tree, pid);
}

/* Its clock stands still, and its parent has its time already. */
static void test_a_process_that_is_being_reaped_has_gone(void **state)
{
	pid_t child = start_burner(BURN_NS);

	(void)state;
	lay(getpid(), 1, 'R', 0, 0);
	lay(child, getpid(), 'R', 0, 0);
	assert_int_equal(process_tree_seed(tree, getpid(), true), 0);
	tree->uses_clock = true;
	process_tree_touch(tree);
	assert_non_null(rest(child));
	assert_true(process_tree_find(tree, child)->cpu.account.own.of[USAGE_CPU_NS] >= BURN_NS);
	lay(child, getpid(), 'X', 0, 0);
	lay(getpid(), 1, 'R', 0, 1 + (int)(process_tree_find(tree, child)->cpu.clock_ns / TICK_NS));
	process_tree_touch(tree);
	assert_null(process_tree_find(tree, child));
	end_child(child);
}

/* The parent was interrupted between waiting for its child and taking over the child's figures. */
static void test_a_parent_that_has_not_run_may_still_take_over_its_child(void **state)
{
	pid_t parent, child;
	struct account *account;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	parent = start_burner(0);
	child = start_burner(BURN_NS);
	lay(parent, 1, 'S', 0, 0);
	lay(child, parent, 'R', 0, 0);
	assert_int_equal(process_tree_seed(tree, parent, true), 0);
	tree->uses_clock = true;
	process_tree_touch(tree);
	account = &rest(parent)->cpu.account;
	end_child(child);
	for (int i = 0; i < 3; i++) {
		process_tree_touch(tree);
		assert_null(process_tree_find(tree, child));
		if (!process_tree_find(tree, parent)->quiet_ticks) {
			end_child(parent);
			SKIP("the kernel has interrupted the parent on its way to sleep");
		}
		assert_true(account->carries);
	}
	lay(parent, 1, 'S', 0, BURN_NS / TICK_NS);
	kill(parent, SIGUSR1);
	for (int i = 0; i < TRIES && account->carries; i++) {
		usleep(1000);
		process_tree_touch(tree);
	}
	assert_false(account->carries);
	assert_int_equal(account->settled.of[USAGE_CPU_NS], 0);
	end_child(parent);
}

static struct rusage usage_of(int user_ticks, int system_ticks)
{
	return (struct rusage){.ru_utime.tv_usec = user_ticks * TICK_NS / NSEC_PER_USEC,
			       .ru_stime.tv_usec = system_ticks * TICK_NS / NSEC_PER_USEC};
}

/* wait4(2) has all: also what came after the last reading, and children that were never seen. */
static void test_a_reaped_process_has_the_figures_of_its_parents_wait(void **state)
{
	struct rusage usage = usage_of(12, 3), helper = usage_of(7, 0);

	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	seed(ROOT);
	expect_after_pass(10);
	process_tree_exclude(tree, CHILD);
	process_tree_add_exited(tree, CHILD, &helper);
	expect_after_pass(10);
	process_tree_before_reap(tree, ROOT);
	take_away(ROOT);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(15);
	assert_int_equal(tree->cpu.account.published.of[USAGE_UTIME_NS], 12 * TICK_NS);
	assert_true(tree->root_gone);
}

static void test_a_job_without_its_children_keeps_its_own_time(void **state)
{
	struct rusage usage = usage_of(50, 0), other = usage_of(9, 0);

	(void)state;
	tree->with_children = false;
	lay(ROOT, 1, 'S', 10, 0);
	seed(ROOT);
	expect_after_pass(10);
	/* An orphan that the recorder reaps is none of it. */
	process_tree_add_exited(tree, GRANDCHILD, &other);
	expect_after_pass(10);
	process_tree_before_reap(tree, ROOT);
	take_away(ROOT);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(10);
}

/* A pass found that it had gone, and then its parent waited for it. */
static void test_a_root_that_vanished_is_replaced_by_its_wait(void **state)
{
	struct rusage usage = usage_of(30, 0), other = usage_of(4, 0);

	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	seed(ROOT);
	expect_after_pass(10);
	take_away(ROOT);
	expect_after_pass(10);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(30);
	/* Another one is new. */
	process_tree_add_exited(tree, GRANDCHILD, &other);
	expect_after_pass(34);
}

/* The root had waited for its child, or not: what its wait tells says which. */
static void test_the_last_child_of_a_root_counts_once(void **state)
{
	struct rusage usage = usage_of(10 + 25 + 2, 0);

	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 20, 0);
	lay(GRANDCHILD, CHILD, 'R', 5, 0);
	seed(ROOT);
	expect_after_pass(35);
	take_away(GRANDCHILD);
	take_away(CHILD);
	take_away(ROOT);
	expect_after_pass(35);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(37);
}

/* The kernel rounds what the root has waited for to ticks. */
static void test_the_last_child_of_a_root_is_in_a_wait_that_was_rounded_down(void **state)
{
	struct rusage usage = usage_of(10 + 25 - 1, 0);

	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 25, 0);
	seed(ROOT);
	take_away(CHILD);
	take_away(ROOT);
	expect_after_pass(35);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(35);
}

static void test_the_last_orphan_of_a_root_counts_beside_it(void **state)
{
	struct rusage usage = usage_of(12, 0);

	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 20, 0);
	seed(ROOT);
	take_away(CHILD);
	take_away(ROOT);
	expect_after_pass(30);
	process_tree_add_exited(tree, ROOT, &usage);
	expect_after_pass(32);
}

/* 300 ms before the attach, in which a child had 200. Its parent tells of all. */
static void test_the_last_child_of_an_attached_root_counts_since_the_attach(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 20, 0);
	assert_int_equal(process_tree_seed(tree, ROOT, false), 0);
	lay(CHILD, ROOT, 'R', 50, 0);
	expect_after_pass(30);
	take_away(CHILD);
	take_away(ROOT);
	expect_after_pass(30);
	assert_true(tree->cpu.root_vanished);
	cpu_root_was_waited_for(tree, &(struct rusage){.ru_utime.tv_usec = 640000});
	assert_int_equal(tree->cpu.account.published.of[USAGE_CPU_NS], 34 * TICK_NS);
	assert_false(tree->cpu.root_vanished);
}

/* Another process waited for the child, so that the parent's figures lack it: they say nothing of the rest. */
static void test_a_parent_that_tells_less_than_the_last_child_had_is_not_believed(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 20, 0);
	assert_int_equal(process_tree_seed(tree, ROOT, false), 0);
	lay(CHILD, ROOT, 'R', 50, 0);
	expect_after_pass(30);
	take_away(CHILD);
	take_away(ROOT);
	expect_after_pass(30);
	cpu_root_was_waited_for(tree, &(struct rusage){.ru_utime.tv_usec = 570000});
	assert_int_equal(tree->cpu.account.published.of[USAGE_CPU_NS], 30 * TICK_NS);
	assert_true(tree->cpu.root_vanished);
}

/* It carries a child that it had not waited for at its last reading. */
static void test_a_child_that_the_root_carries_is_in_its_wait(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay(CHILD, ROOT, 'R', 0, 0);
	assert_int_equal(process_tree_seed(tree, ROOT, false), 0);
	lay(CHILD, ROOT, 'R', 50, 0);
	expect_after_pass(50);
	take_away(CHILD);
	expect_after_pass(50);
	take_away(ROOT);
	expect_after_pass(50);
	cpu_root_was_waited_for(tree, &(struct rusage){.ru_utime.tv_usec = 640000});
	assert_int_equal(tree->cpu.account.published.of[USAGE_CPU_NS], 54 * TICK_NS);
}

static void test_time_that_only_the_group_has_is_split_as_the_group_is(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 10, 0);
	lay_group(10);
	seed(ROOT);
	expect_after_pass(10);
	assert_int_equal(tree->cpu.account.published.of[USAGE_UTIME_NS], 10 * TICK_NS);
	put_text("cgroup/cpu.stat", "usage_usec 300000\nuser_usec 75000\nsystem_usec 225000\n");
	expect_after_pass(30);
	assert_int_equal(tree->cpu.account.published.of[USAGE_UTIME_NS], 15 * TICK_NS);
	/* As long as a process runs, it may still tell of it. */
	assert_false(cpu_has_lost_usage(tree));
	take_away(ROOT);
	expect_after_pass(30);
	assert_true(cpu_has_lost_usage(tree));
}

static void test_a_little_time_of_the_group_is_not_lost(void **state)
{
	(void)state;
	lay(ROOT, 1, 'S', 100, 0);
	lay_group(106);
	seed(ROOT);
	expect_after_pass(106);
	take_away(ROOT);
	expect_after_pass(106);
	assert_false(cpu_has_lost_usage(tree));
	lay_group(108);
	expect_after_pass(108);
	assert_true(cpu_has_lost_usage(tree));
}

#define unit_test_of_tree(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_tree(test_an_estimate_is_not_taken_above_the_group),
		unit_test_of_tree(test_a_process_that_left_the_group_counts),
		unit_test_of_tree(test_an_orphan_counts_where_a_subreaper_has_waited),
		unit_test_of_tree(test_a_child_that_ended_before_its_parent_counts_there),
		unit_test_of_tree(test_an_orphan_of_a_zombie_counts_once),
		unit_test_of_tree(test_an_orphan_counts_once_if_both_end_during_a_pass),
		unit_test_of_tree(test_an_orphan_of_an_idle_process_counts_once),
		unit_test_of_tree(test_the_growth_of_an_ancestor_has_other_causes),
		unit_test_of_tree(test_a_child_of_a_reaped_process_has_no_heir),
		unit_test_of_tree(test_a_process_that_is_being_reaped_has_gone),
		unit_test_of_tree(test_a_reaped_process_has_the_figures_of_its_parents_wait),
		unit_test_of_tree(test_a_job_without_its_children_keeps_its_own_time),
		unit_test_of_tree(test_a_root_that_vanished_is_replaced_by_its_wait),
		unit_test_of_tree(test_the_last_child_of_a_root_counts_once),
		unit_test_of_tree(test_the_last_child_of_a_root_is_in_a_wait_that_was_rounded_down),
		unit_test_of_tree(test_the_last_orphan_of_a_root_counts_beside_it),
		unit_test_of_tree(test_the_last_child_of_an_attached_root_counts_since_the_attach),
		unit_test_of_tree(test_a_parent_that_tells_less_than_the_last_child_had_is_not_believed),
		unit_test_of_tree(test_a_child_that_the_root_carries_is_in_its_wait),
		unit_test_of_tree(test_time_that_only_the_group_has_is_split_as_the_group_is),
		unit_test_of_tree(test_a_little_time_of_the_group_is_not_lost),
		unit_test_of_tree(test_a_parent_that_has_not_run_may_still_take_over_its_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
