/* Tests of src/job/programs/programs.c: ends with a status, its listener, and the parent of an attached job's first process. */
#include "said_programs.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "kernel/proc_pid_stat.h"

/* ---- ends with a status ------------------------------------------------------------------------------------------ */

static void tell_an_end(pid_t pid, int wait_status, int64_t clock_ns)
{
	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXITED,
							   .pid = pid,
							   .parent_pid = 11,
							   .reaper_pid = 12,
							   .wait_status = wait_status,
							   .before = "cc1",
							   .parent = "gcc",
							   .clock_ns = clock_ns,
							   .forked_ns = 13,
							   .at_ns = 14,
							   .last_fork_ns = 15,
							   .seen_ns = 16};
}

static void an_end_with_a_status_is_kept(void **state)
{
	struct world *world = *state;
	const struct failures *failures = &world->programs->failures;

	tell_an_end(1 << 22, 256, 17);
	tell_an_end((1 << 22) - 1, 0, 17);
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(failures->count, 1);
	assert_int_equal(failures->at[0].pid, 1 << 22);
	assert_int_equal(failures->at[0].parent_pid, 11);
	assert_int_equal(failures->at[0].reaper_pid, 12);
	assert_int_equal(failures->at[0].wait_status, 256);
	assert_string_equal(failures->at[0].program, "cc1");
	assert_string_equal(failures->at[0].parent, "gcc");
	assert_int_equal(failures->at[0].forked_ns, 13);
	assert_int_equal(failures->at[0].ended_ns, 14);
	assert_int_equal(failures->at[0].last_fork_ns, 15);
	assert_int_equal(failures->at[0].cpu_ns, 17);
	assert_int_equal(failures->at[0].sampled_ns, 0);
	assert_int_equal(failures->at[0].resident_kib, 0);
	assert_int_equal(world->programs->root.ended_ns, 0);
}

/* Without its clock, the last look at it counts, then nothing. */
static void the_time_of_a_failed_process_is_the_last_that_was_seen(void **state)
{
	struct world *world = *state;
	const struct failures *failures = &world->programs->failures;

	tell_an_end(1 << 22, 9, -1);
	tell_an_end((1 << 22) - 1, 9, -1);
	said.events[1].seen_ns = 0;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(failures->at[0].cpu_ns, 16);
	assert_int_equal(failures->at[1].cpu_ns, -1);
}

static void a_failed_process_has_the_figures_of_its_last_sample(void **state)
{
	struct world *world = *state;
	const struct failure *failure;

	world->member.cpu.account.own.of[USAGE_CPU_NS] = 1000000;
	world->member.memory.resident_pages = 5;
	programs_end_pass(world->programs, &world->tree);
	world->member.memory.resident_pages = 1;
	programs_end_pass(world->programs, &world->tree);
	/* Its memory has gone before its end is told. */
	world->member.memory.resident_pages = 0;
	programs_end_pass(world->programs, &world->tree);
	tell_an_end(getpid(), 9, -1);
	programs_end_pass(world->programs, &world->tree);
	failure = &world->programs->failures.at[0];
	assert_int_equal(failure->cpu_ns, 1000000);
	assert_int_equal(failure->resident_kib, world->root.page_bytes >> 10);
	assert_true(failure->sampled_ns > 0);
}

static void the_first_process_has_its_end_told_with_any_status(void **state)
{
	struct world *world = *state;

	world->tree.root_pid = 1 << 22;
	tell_an_end(1 << 22, 0, 17);
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(world->programs->root.pid, 1 << 22);
	assert_int_equal(world->programs->root.ended_ns, 14);
	assert_int_equal(world->programs->failures.count, 0);
}

/* Where no events are heard, a descriptor of the process tells its end to the pass that finds it gone. */
static void an_end_that_no_event_has_told_is_kept(void **state)
{
	struct world *world = *state;
	const struct failures *failures = &world->programs->failures;

	said.error = -1;
	programs_hear(world->programs, true);
	for (int is_root = 0; is_root <= 1; is_root++) {
		pid_t pid = fork();

		if (pid == 0)
			pause();
		assert_true(pid > 0);
		world->member.pid = pid;
		world->member.parent_pid = 11;
		world->member.cpu.account.own.of[USAGE_CPU_NS] = 12;
		world->member.memory.resident_pages = 5;
		world->tree.root_pid = is_root ? pid : 1;
		world->tree.fds_left = END_DESCRIPTORS_LEAVE + 1;
		world->tree.count = 1;
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		if (world->programs->ends_untold)
			skip();
		world->tree.count = 0;
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(world->tree.fds_left, END_DESCRIPTORS_LEAVE + 1);
		assert_int_equal(world->programs->process_count, 0);
		assert_int_equal(world->programs->root.pid, is_root ? pid : 0);
		if (!failures->count)
			skip(); /* Linux 6.13 and 6.14 tell no status */
		assert_int_equal(failures->at[is_root].pid, pid);
		assert_int_equal(failures->at[is_root].wait_status, SIGKILL);
		assert_int_equal(failures->at[is_root].parent_pid, 11);
		assert_int_equal(failures->at[is_root].reaper_pid, 11);
		assert_int_equal(failures->at[is_root].cpu_ns, 12);
		assert_int_equal(failures->at[is_root].resident_kib, 5 * (world->root.page_bytes >> 10));
		assert_true(failures->at[is_root].ended_ns > 0);
		assert_true(failures->at[is_root].sampled_ns > 0);
		assert_string_equal(failures->at[is_root].program, world->programs->at[0].name);
	}
}

/* ---- the listener ------------------------------------------------------------------------------------------------ */

/* The listener forgets all that it followed when events are lost. */
static void after_lost_events_the_listener_hears_of_all_again(void **state)
{
	struct world *world = *state;
	size_t added;

	programs_end_pass(world->programs, &world->tree);
	added = said_added;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(said_added, added);
	said.lost = true;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(said_added, added + world->programs->process_count);
	assert_false(programs_are_exact(world->programs));
	said.lost = false;
	programs_end_pass(world->programs, &world->tree);
	assert_true(programs_are_exact(world->programs));
}

static void a_listener_that_does_not_start_is_dropped(void **state)
{
	struct world *world = *state;

	assert_int_equal(programs_hear_failures(world->programs), PROGRAMS_HEAR_ALL);
	said.misses_ends = true;
	assert_int_equal(programs_hear_failures(world->programs), PROGRAMS_HEAR_SOME);
	said.error = -1;
	programs_start(world->programs, &world->tree);
	assert_int_equal(said.closed, 1);
	assert_false(programs_listen(world->programs));
	assert_false(programs_are_exact(world->programs));
	assert_int_equal(programs_hear_failures(world->programs), PROGRAMS_HEAR_NONE);
}

static void a_listener_that_stops_hearing_is_dropped(void **state)
{
	struct world *world = *state;

	programs_hear(world->programs, true);
	assert_true(programs_are_exact(world->programs));
	said.error = -1;
	world->programs->started = false;
	programs_hear(world->programs, true);
	assert_int_equal(said.closed, 0);
	assert_int_equal(programs_hear_failures(world->programs), PROGRAMS_HEAR_NONE);
	world->programs->started = true;
	programs_hear(world->programs, true);
	assert_int_equal(said.closed, 1);
	assert_false(programs_are_exact(world->programs));
	/* Then there is none that could fail. */
	programs_hear(world->programs, true);
	assert_int_equal(said.closed, 1);
}

/* Some jobs have no programs, some programs no listener, and none is heard before the start. */
static void events_are_heard_by_a_listener_that_has_started(void **state)
{
	struct world *world = *state;

	assert_false(programs_have_thread(NULL) || programs_listen(NULL) || programs_are_exact(NULL));
	assert_false(programs_have_thread(world->programs));
	said.runs = true;
	assert_true(programs_have_thread(world->programs));
	assert_true(programs_listen(world->programs) && programs_are_exact(world->programs));
	world->programs->exact = false;
	assert_true(programs_listen(world->programs) && !programs_are_exact(world->programs));
	world->programs->exact = true;
	world->programs->started = false;
	assert_false(programs_listen(world->programs) || programs_are_exact(world->programs));
	world->programs->started = true;
	said.error = -1;
	programs_hear(world->programs, true);
	assert_false(programs_have_thread(world->programs) || programs_listen(world->programs));
}

static void forks_and_the_program_of_a_process_are_asked_for(void **state)
{
	struct world *world = *state;
	pid_t pids[3] = {0};

	said.pids = (const pid_t[]){77, 78};
	said.pid_count = 2;
	assert_int_equal(programs_forked(world->programs, pids, 3), 2);
	assert_int_equal(pids[0], 77);
	assert_int_equal(programs_living(world->programs, pids, 1), 1);
	assert_ptr_equal(programs_of(world->programs, getpid()), &world->programs->at[0]);
	assert_null(programs_of(world->programs, 1 << 22));
}

/* ---- the parent of an attached job's first process ---------------------------------------------------------------- */

/* Orphans of the job become children of one of them. */
static void the_processes_above_an_attached_job_are_told(void **state)
{
	struct world *world = *state;

	world->tree.root_pid = getpid();
	programs_start(world->programs, &world->tree);
	assert_int_equal(said.child, getpid());
	assert_true(said.ancestor_count >= 1);
	assert_int_equal(said.ancestors[0], getppid());
	assert_true(world->programs->started && world->programs->exact);
	/* The caller is above a job that it has started. */
	said.ancestor_count = 0;
	world->tree.started_by_caller = true;
	programs_start(world->programs, &world->tree);
	assert_int_equal(said.ancestor_count, 0);
}

static void events_are_caught_up_before_a_process_is_reaped(void **state)
{
	struct world *world = *state;

	programs_before_reap(world->programs);
	assert_int_equal(said.caught_up, 1);
	world->programs->started = false;
	programs_before_reap(world->programs);
	assert_int_equal(said.caught_up, 1);
	world->programs->started = true;
	said.error = -1;
	programs_hear(world->programs, true);
	programs_before_reap(world->programs);
	assert_int_equal(said.caught_up, 1);
}

/* The first process has gone in a pass. Its parent has waited for it by the next one: these are the 400 ms. */
static void the_parent_tells_the_time_of_a_first_process_that_has_gone(void **state)
{
	struct world *world = *state;
	struct root_waiter *waiter = &world->programs->waiter;

	for (int is_last = 0; is_last <= 1; is_last++) {
		const int64_t *reaped_ns = &world->tree.cpu.account.reaped.of[USAGE_CPU_NS];

		waiter->pid = getpid();
		waiter->is_known = true;
		waiter->is_wanted = waiter->is_late = false;
		assert_int_equal(read_proc_pid_stat(&world->root, getpid(), &waiter->before), 0);
		waiter->before.waited_utime_ticks -= 4 * world->root.clock_ticks / 10;
		world->tree.cpu = (struct job_cpu){.cgroup_cpu_fd = -1};
		world->tree.with_children = true;
		world->tree.count = 0;
		world->tree.is_last_pass = is_last;
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(*reaped_ns, 0);
		world->tree.cpu.root_vanished = true;
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(*reaped_ns, is_last ? 400 * NSEC_PER_MSEC : 0);
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(*reaped_ns, 400 * NSEC_PER_MSEC);
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(*reaped_ns, 400 * NSEC_PER_MSEC);
	}
}

/* A child that it waited for besides makes its figures those of both. */
static void the_parent_is_asked_again_after_another_child_of_it_has_ended(void **state)
{
	struct world *world = *state;
	struct root_waiter *waiter = &world->programs->waiter;
	struct member *root;

	world->tree.with_children = true;
	world->tree.root_pid = world->member.pid;
	world->member.parent_pid = 77;
	world->tree.members = NULL;
	world->tree.count = 0;
	assert_int_equal(process_tree_reserve(&world->tree), 0);
	process_tree_append(&world->tree, &world->member);
	root = process_tree_root(&world->tree);
	programs_start(world->programs, &world->tree);
	assert_int_equal(waiter->pid, 77);
	programs_end_pass(world->programs, &world->tree);
	assert_false(waiter->is_wanted);
	waiter->is_known = true;
	said.other_ended = true;
	programs_end_pass(world->programs, &world->tree);
	assert_false(waiter->is_known);
	assert_true(waiter->is_wanted);
	said.other_ended = false;
	programs_end_pass(world->programs, &world->tree);
	assert_false(waiter->is_wanted);
	/* Another parent, as of an orphan, is asked from then on. */
	root->parent_pid = 78;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(waiter->pid, 78);
	assert_true(waiter->is_wanted);
	free(world->tree.members);
	free(world->tree.slots);
}

static void a_job_that_the_caller_started_has_no_parent_to_ask(void **state)
{
	struct world *world = *state;

	world->tree.with_children = world->tree.started_by_caller = true;
	world->member.parent_pid = 77;
	world->tree.root_pid = world->member.pid;
	world->tree.members = NULL;
	world->tree.count = 0;
	assert_int_equal(process_tree_reserve(&world->tree), 0);
	process_tree_append(&world->tree, &world->member);
	programs_start(world->programs, &world->tree);
	said.other_ended = true;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(world->programs->waiter.pid, 0);
	assert_false(world->programs->waiter.is_wanted);
	/* Nor has one whose children do not count. */
	world->tree.started_by_caller = world->tree.with_children = false;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(world->programs->waiter.pid, 0);
	free(world->tree.members);
	free(world->tree.slots);
}

/* Nothing was heard before the start, and nothing is without a listener. */
static void the_listener_finishes_once_it_has_started(void **state)
{
	struct world *world = *state;

	world->programs->started = false;
	programs_finish(world->programs);
	assert_int_equal(said.finished, 0);
	world->programs->started = true;
	programs_finish(world->programs);
	assert_int_equal(said.finished, 1);
	assert_true(world->programs->is_finished);
	said.error = -1;
	programs_hear(world->programs, true);
	programs_finish(world->programs);
	assert_int_equal(said.finished, 1);
}

#define said_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		said_test(an_end_with_a_status_is_kept),
		said_test(the_time_of_a_failed_process_is_the_last_that_was_seen),
		said_test(a_failed_process_has_the_figures_of_its_last_sample),
		said_test(the_first_process_has_its_end_told_with_any_status),
		said_test(after_lost_events_the_listener_hears_of_all_again),
		said_test(a_listener_that_does_not_start_is_dropped),
		said_test(a_listener_that_stops_hearing_is_dropped),
		said_test(events_are_heard_by_a_listener_that_has_started),
		said_test(forks_and_the_program_of_a_process_are_asked_for),
		said_test(an_end_that_no_event_has_told_is_kept),
		said_test(the_processes_above_an_attached_job_are_told),
		said_test(events_are_caught_up_before_a_process_is_reaped),
		said_test(the_parent_tells_the_time_of_a_first_process_that_has_gone),
		said_test(the_parent_is_asked_again_after_another_child_of_it_has_ended),
		said_test(a_job_that_the_caller_started_has_no_parent_to_ask),
		said_test(the_listener_finishes_once_it_has_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
