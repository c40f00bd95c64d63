/* Tests of src/job/programs/programs.c: ends with a status, its listener, and the parent of an attached job's first process. */
#include "said_listener.h"

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
	tell_an_end(getpid(), 9, -1);
	programs_end_pass(world->programs, &world->tree);
	failure = &world->programs->failures.at[0];
	assert_int_equal(failure->cpu_ns, 1000000);
	assert_int_equal(failure->resident_kib, 5 * (world->root.page_bytes >> 10));
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

static void forks_and_the_program_of_a_process_are_asked_for(void **state)
{
	struct world *world = *state;
	pid_t pids[3];

	assert_int_equal(programs_forked(world->programs, pids, 3), 3);
	assert_int_equal(pids[0], 77);
	assert_ptr_equal(programs_of(world->programs, getpid()), &world->programs->at[0]);
	assert_null(programs_of(world->programs, 1 << 22));
}

/* ---- the parent of an attached job's first process ---------------------------------------------------------------- */

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
	programs_start(world->programs, &world->tree);
	said.other_ended = true;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(world->programs->waiter.pid, 0);
	assert_false(world->programs->waiter.is_wanted);
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
		said_test(forks_and_the_program_of_a_process_are_asked_for),
		said_test(the_parent_is_asked_again_after_another_child_of_it_has_ended),
		said_test(a_job_that_the_caller_started_has_no_parent_to_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
