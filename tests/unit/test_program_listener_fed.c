/* Tests of src/job/programs/program_listener.c with a kernel of its own, which sends the events that each test wants. */
#include "fed_listener.h"

#include <signal.h>

static void it_tells_why_the_kernel_sends_no_events(void **state)
{
	struct program_listener *none = NULL;

	(void)state;
	fed.open_error = -EPERM;
	assert_int_equal(program_listener_open(&none), -EPERM);
	assert_null(none);
	program_listener_close(NULL);
}

static void forks_and_ends_are_told_once(void **state)
{
	struct taken taken;

	(void)state;
	assert_int_equal(fed.signo, SIGCHLD);
	assert_int_equal(program_listener_exits(listener), 0);
	feed_fork(CHILD, JOB);
	feed_end(CHILD, JOB, 256);
	feed_end(OTHER, PARENT, 0);
	taken = take();
	assert_int_equal(taken.count, 1);
	assert_false(taken.lost);
	assert_int_equal(taken.events[0].kind, PROGRAM_EXITED);
	assert_int_equal(taken.events[0].pid, CHILD);
	assert_int_equal(taken.events[0].wait_status, 256);
	assert_int_equal(program_listener_exits(listener), 1);
	assert_int_equal(take().count, 0);
	assert_false(program_listener_misses_ends(listener));
}

/* The number of a process may be that of another one a second later. */
static void the_clock_of_a_process_is_read_at_recent_events(void **state)
{
	static const enum proc_event_kind KINDS[] = {PROC_EVENT_EXECED, PROC_EVENT_EXITED};

	(void)state;
	for (int is_old = 0; is_old <= 1; is_old++) {
		struct taken taken;

		program_listener_add(listener, getpid(), "test");
		for (int i = 0; i < 2; i++)
			feed((struct proc_event){.kind = KINDS[i],
						 .pid = getpid(),
						 .parent_pid = JOB,
						 .monotonic_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) -
								 (is_old ? NSEC_PER_SEC : 0)});
		taken = take();
		assert_int_equal(taken.count, 2);
		assert_int_equal(taken.events[0].kind, PROGRAM_EXECED);
		assert_int_equal(taken.events[1].kind, PROGRAM_EXITED);
		assert_int_equal(taken.events[0].clock_ns < 0, is_old);
		assert_int_equal(taken.events[1].clock_ns < 0, is_old);
	}
}

static void lost_events_are_told_once_and_for_ever(void **state)
{
	struct taken taken;

	(void)state;
	fed.receive_error = -ENOBUFS;
	taken = take();
	assert_true(taken.lost);
	assert_true(program_listener_misses_ends(listener));
	assert_int_equal(program_listener_exits(listener), PROGRAM_EXITS_LOST);
	assert_false(take().lost);
	assert_int_equal(program_listener_exits(listener), PROGRAM_EXITS_LOST);
}

/* Nothing has come, or a signal has. */
static void an_empty_or_interrupted_read_loses_nothing(void **state)
{
	(void)state;
	fed.receive_error = -EAGAIN;
	assert_false(take().lost);
	fed.receive_error = -EINTR;
	assert_false(take().lost);
	assert_false(program_listener_misses_ends(listener));
	fed.receive_error = -EIO;
	(void)take();
	assert_true(program_listener_misses_ends(listener));
}

/* ---- who lives --------------------------------------------------------------------------------------------------- */

static void processes_live_until_their_end_is_heard(void **state)
{
	pid_t pids[4];

	(void)state;
	assert_int_equal(program_listener_living(listener, pids, 4), 1);
	assert_int_equal(pids[0], JOB);
	feed_fork(CHILD, JOB);
	feed_fork(OTHER, JOB);
	program_listener_catch_up(listener);
	assert_int_equal(program_listener_living(listener, pids, 4), 3);
	assert_int_equal(program_listener_living(listener, pids, 2), 2);
	feed_end(CHILD, JOB, 0);
	program_listener_catch_up(listener);
	assert_int_equal(program_listener_living(listener, pids, 4), 2);
}

/* Two takes must be whole, and there must be room for one more. */
static void the_forked_are_complete_after_whole_takes(void **state)
{
	pid_t pids[4];

	(void)state;
	for (int i = 0; i < WHOLE_TAKES; i++) {
		assert_int_equal(program_listener_forked(listener, pids, 4), -1);
		(void)take();
	}
	assert_int_equal(program_listener_forked(listener, pids, 4), 1);
	feed_fork(CHILD, JOB);
	feed_fork(OTHER, JOB);
	assert_int_equal(program_listener_forked(listener, pids, 4), 3);
	assert_int_equal(program_listener_forked(listener, pids, 3), -1);
	/* One that has ended counts until its event is taken. */
	feed_end(CHILD, JOB, 0);
	assert_int_equal(program_listener_forked(listener, pids, 4), 3);
	assert_int_equal(pids[2], CHILD);
	(void)take();
	assert_int_equal(program_listener_forked(listener, pids, 4), 2);
	feed_fork(CHILD, JOB);
	fed.receive_error = -ENOBUFS;
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	(void)take();
	(void)take();
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	(void)take();
	assert_true(program_listener_forked(listener, pids, 4) >= 0);
	/* A socket that fails may have had forks, and loses no event that was told. */
	fed.receive_error = -EIO;
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	assert_false(take().lost);
}

/* A storm is not read to its end. */
static void the_forked_are_unknown_in_a_storm(void **state)
{
	pid_t pids[4];

	(void)state;
	for (int i = 0; i < WHOLE_TAKES; i++)
		(void)take();
	for (int i = 0; i < BATCHES_MOST * NETLINK_BATCH - 1; i++)
		feed_end(OTHER, PARENT, 0);
	assert_int_equal(program_listener_forked(listener, pids, 4), 1);
	for (int i = 0; i < BATCHES_MOST * NETLINK_BATCH; i++)
		feed_end(OTHER, PARENT, 0);
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	assert_int_equal(program_listener_forked(listener, pids, 4), 1);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* The only event of a process that a pass found is its end. */
static void a_process_that_a_pass_found_is_followed(void **state)
{
	struct taken taken;

	(void)state;
	program_listener_add(listener, CHILD, "cc1");
	feed_end(CHILD, JOB, 0);
	taken = take();
	assert_int_equal(taken.count, 1);
	assert_string_equal(taken.events[0].before, "cc1");
	/* One whose end waits to be taken is not added again. */
	feed_fork(CHILD, JOB);
	feed_end(CHILD, JOB, 0);
	program_listener_catch_up(listener);
	program_listener_add(listener, CHILD, "cc1");
	assert_int_equal(take().count, 1);
	assert_int_equal(program_listener_exits(listener), 2);
	assert_false(program_listener_remove(listener, CHILD));
}

/* Events that are read at once tell of each exec. A pass that is late would name the program before it. */
static void a_pass_names_only_the_nameless(void **state)
{
	struct taken taken;

	(void)state;
	program_listener_add(listener, JOB, "late");
	program_listener_add(listener, CHILD, NULL);
	program_listener_add(listener, CHILD, "as");
	program_listener_add(listener, CHILD, NULL);
	feed_end(CHILD, JOB, 0);
	feed_end(JOB, PARENT, 0);
	taken = take();
	assert_int_equal(taken.count, 2);
	assert_string_equal(taken.events[0].before, "as");
	assert_string_equal(taken.events[1].before, "make");
}

/* A pass finds that a process has gone. A thread of it may have told a status. */
static void a_process_that_a_pass_misses_is_removed(void **state)
{
	struct taken taken;

	(void)state;
	program_listener_add(listener, CHILD, "cc1");
	assert_true(program_listener_remove(listener, CHILD));
	assert_false(program_listener_remove(listener, CHILD));
	assert_int_equal(program_listener_exits(listener), 0);
	assert_int_equal(take().count, 0);
	feed((struct proc_event){.kind = PROC_EVENT_FORKED, .pid = CHILD, .parent_pid = JOB});
	feed((struct proc_event){
		.kind = PROC_EVENT_FORKED, .pid = CHILD, .parent_pid = CHILD, .is_thread = true});
	feed_end(CHILD, JOB, 9);
	program_listener_catch_up(listener);
	assert_true(program_listener_remove(listener, CHILD));
	/* Its first thread has ended. */
	assert_int_equal(program_listener_exits(listener), 1);
	taken = take();
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.events[0].kind, PROGRAM_FAILED);
	assert_int_equal(taken.events[0].wait_status, 9);
}

/* Its first thread has ended, which was told as its end. */
static void a_process_that_lives_on_ends_once(void **state)
{
	(void)state;
	program_listener_add(listener, CHILD, "java");
	feed_end(CHILD, JOB, 0);
	assert_int_equal(take().count, 1);
	program_listener_add_again(listener, CHILD, "java");
	assert_int_equal(program_listener_exits(listener), 0);
	assert_true(program_listener_remove(listener, CHILD));
	assert_int_equal(program_listener_exits(listener), 1);
}

/* ---- the parent of an attached job ------------------------------------------------------------------------------- */

static void another_child_of_the_jobs_parent_is_told_once(void **state)
{
	(void)state;
	assert_true(program_listener_add_ancestor(listener, JOB, PARENT));
	feed_end(CHILD, OTHER, 0);
	program_listener_catch_up(listener);
	assert_false(program_listener_other_ended(listener));
	feed_end(OTHER, PARENT, 0);
	program_listener_catch_up(listener);
	assert_true(program_listener_other_ended(listener));
	assert_false(program_listener_other_ended(listener));
	/* The job's own end is not that of another. */
	feed_end(JOB, PARENT, 0);
	program_listener_catch_up(listener);
	assert_false(program_listener_other_ended(listener));
}

/* Events that came after those that were lost are read at once. */
static void events_after_a_loss_are_read(void **state)
{
	(void)state;
	(void)program_listener_add_ancestor(listener, JOB, PARENT);
	feed_end(OTHER, PARENT, 0);
	fed.receive_error = -ENOBUFS;
	program_listener_catch_up(listener);
	assert_true(program_listener_other_ended(listener));
	assert_true(program_listener_misses_ends(listener));
}

/* Its parent has waited for it by then, and may be the job's. */
static void an_end_without_a_parent_may_be_that_of_another_child(void **state)
{
	(void)state;
	(void)program_listener_add_ancestor(listener, JOB, PARENT);
	feed((struct proc_event){.kind = PROC_EVENT_EXITED, .pid = OTHER, .is_thread = true});
	program_listener_catch_up(listener);
	assert_false(program_listener_other_ended(listener));
	feed_end(OTHER, 0, 0);
	program_listener_catch_up(listener);
	assert_true(program_listener_other_ended(listener));
	program_listener_add(listener, CHILD, "sh");
	feed_end(CHILD, 0, 0);
	program_listener_catch_up(listener);
	assert_false(program_listener_other_ended(listener));
}

static void there_is_room_for_thirty_two_ancestors(void **state)
{
	(void)state;
	assert_false(program_listener_add_ancestor(listener, JOB, 0));
	for (int i = 0; i < 31; i++)
		assert_true(program_listener_add_ancestor(listener, JOB, PARENT - i));
	assert_true(program_listener_add_ancestor(listener, JOB, 1));
	assert_false(program_listener_add_ancestor(listener, JOB, 1));
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void the_caller_reads_until_the_job_forks(void **state)
{
	(void)state;
	assert_int_equal(program_listener_hear(listener, false), 0);
	feed((struct proc_event){.kind = PROC_EVENT_EXECED, .pid = JOB});
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_false(program_listener_runs(listener));
	assert_int_equal(fed.signo, SIGCHLD);
	feed_fork(CHILD, JOB);
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_true(program_listener_runs(listener));
	assert_int_equal(fed.signo, 0);
	/* It hears no more for the thread. */
	fed.choose_error = -EPERM;
	assert_int_equal(program_listener_hear(listener, true), 0);
}

/* A pass has found the child of a fork that no event has told. */
static void the_caller_reads_until_a_pass_finds_a_fork(void **state)
{
	(void)state;
	program_listener_add(listener, CHILD, "cc1");
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_true(program_listener_runs(listener));
}

/* Events of others wake it, too. */
static void the_caller_reads_a_few_times_only(void **state)
{
	(void)state;
	for (int i = 1; i < ROUNDS_OF_CALLER_MOST; i++) {
		feed_end(OTHER, PARENT, 0);
		assert_int_equal(program_listener_hear(listener, false), 0);
		assert_int_equal(program_listener_hear(listener, false), 0);
		assert_false(program_listener_runs(listener));
	}
	feed_end(OTHER, PARENT, 0);
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_true(program_listener_runs(listener));
}

static void many_events_at_once_start_the_thread(void **state)
{
	(void)state;
	for (int i = 1; i < NETLINK_BATCH; i++)
		feed_end(OTHER, PARENT, 0);
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_false(program_listener_runs(listener));
	for (int i = 0; i < NETLINK_BATCH; i++)
		feed_end(OTHER, PARENT, 0);
	assert_int_equal(program_listener_hear(listener, false), 0);
	assert_true(program_listener_runs(listener));
}

static void a_thread_that_cannot_choose_its_events_is_not_started(void **state)
{
	(void)state;
	fed.choose_error = -EPERM;
	assert_int_equal(program_listener_hear(listener, true), -EPERM);
	assert_false(program_listener_runs(listener));
	assert_int_equal(program_listener_exits(listener), -1);
}

/* A job that the caller has not started, or a kernel that sends no signal. */
static void without_a_signal_the_thread_starts_at_once(void **state)
{
	(void)state;
	program_listener_close(listener);
	fed.signal_error = -ENOTTY;
	assert_int_equal(program_listener_open(&listener), 0);
	assert_int_equal(program_listener_exits(listener), -1);
	assert_int_equal(program_listener_start(listener, true), 0);
	assert_true(program_listener_runs(listener));
	program_listener_close(listener);
	fed.signal_error = 0;
	assert_int_equal(program_listener_open(&listener), 0);
	fed.signo = -1;
	assert_int_equal(program_listener_start(listener, false), 0);
	assert_true(program_listener_runs(listener));
	assert_int_equal(fed.signo, -1);
	assert_int_equal(program_listener_exits(listener), 0);
}

/* Exits that no event has told are those of processes that are gone: none of these pids exists. */
static void the_last_take_tells_all_that_have_gone(void **state)
{
	(void)state;
	program_listener_add(listener, getpid(), "test");
	feed_fork(CHILD, JOB);
	program_listener_catch_up(listener);
	assert_int_equal(take().count, 0);
	program_listener_finish(listener);
	assert_int_equal(take().count, 2);
	assert_int_equal(program_listener_exits(listener), 2);
	assert_int_equal(program_listener_hear(listener, true), 0);
	assert_false(program_listener_runs(listener));
}

#define fed_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		fed_test(it_tells_why_the_kernel_sends_no_events),
		fed_test(forks_and_ends_are_told_once),
		fed_test(the_clock_of_a_process_is_read_at_recent_events),
		fed_test(lost_events_are_told_once_and_for_ever),
		fed_test(an_empty_or_interrupted_read_loses_nothing),
		fed_test(processes_live_until_their_end_is_heard),
		fed_test(the_forked_are_complete_after_whole_takes),
		fed_test(the_forked_are_unknown_in_a_storm),
		fed_test(a_process_that_a_pass_found_is_followed),
		fed_test(a_pass_names_only_the_nameless),
		fed_test(a_process_that_a_pass_misses_is_removed),
		fed_test(a_process_that_lives_on_ends_once),
		fed_test(another_child_of_the_jobs_parent_is_told_once),
		fed_test(events_after_a_loss_are_read),
		fed_test(an_end_without_a_parent_may_be_that_of_another_child),
		fed_test(there_is_room_for_thirty_two_ancestors),
		fed_test(the_caller_reads_until_the_job_forks),
		fed_test(the_caller_reads_until_a_pass_finds_a_fork),
		fed_test(the_caller_reads_a_few_times_only),
		fed_test(many_events_at_once_start_the_thread),
		fed_test(a_thread_that_cannot_choose_its_events_is_not_started),
		fed_test(without_a_signal_the_thread_starts_at_once),
		fed_test(the_last_take_tells_all_that_have_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
