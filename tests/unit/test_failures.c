/* Tests of src/job/failures/failures.c: which process failed first, from ends that this test makes. */
#include "unit.h"

#include <signal.h>

#include "base/clock.h"
#include "job/failures/failures.h"

enum { JOB = 100, CORE = 0x80 };

static struct failure end_of(pid_t pid, pid_t parent, const char *program, int wait_status, int64_t msec)
{
	return (struct failure){.pid = pid,
				.parent_pid = parent,
				.reaper_pid = parent,
				.program = program,
				.wait_status = wait_status,
				.forked_ns = 1,
				.ended_ns = msec * NSEC_PER_MSEC,
				.cpu_ns = -1};
}

static int exited(int code)
{
	return code << 8;
}

static pid_t other_pid; /* of the last search, 0 for none */

/* Returns the pid of the first cause among the ends, and 0 for none. The last one is the job's own. */
static pid_t first_of(const struct failure *ends, size_t count, struct first_failure *ret_first)
{
	struct failures failures = {0};
	pid_t pid;

	for (size_t i = 0; i < count; i++)
		failures_add(&failures, &ends[i]);
	failures_first(&failures, &ends[count - 1], ret_first);
	pid = ret_first->depth ? ret_first->path[ret_first->depth - 1]->pid : 0;
	other_pid = ret_first->other ? ret_first->other->pid : 0;
	failures_done(&failures);
	return pid;
}

static void test_a_job_that_ends_with_0_accuses_no_process(void **state)
{
	const struct failure ends[] = {end_of(101, JOB, "cc1", SIGSEGV, 10), end_of(JOB, 1, "sh", 0, 20)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 2, &first), 0);
}

static void test_a_crash_is_found_below_those_that_pass_it_on(void **state)
{
	const struct failure ends[] = {
		end_of(103, 102, "cc1", SIGSEGV | CORE, 10), end_of(102, JOB, "gcc", exited(1), 11),
		end_of(104, JOB, "grep", exited(1), 12), end_of(JOB, 1, "make", exited(2), 20)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 4, &first), 103);
	assert_int_equal(first.depth, 3);
	assert_true(first.is_sure);
	assert_true(failure_is_crash(&ends[0]));
	assert_false(failure_is_crash(&ends[2]));
}

/* A shell goes on after a crash that it has handled. Any other parent does not. */
static void test_a_shell_tells_the_status_of_its_last_command(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "tool", SIGSEGV, 10),
				 end_of(102, JOB, "tool", exited(5), 30),
				 end_of(JOB, 1, "dash", exited(5), 31)};
	struct first_failure first;

	(void)state;
	ends[1].forked_ns = ends[2].last_fork_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
	assert_true(first.is_sure);
	ends[2].program = "python3 a.py";
	assert_int_equal(first_of(ends, 3, &first), 101);
	/* A name that was not read may be that of a question. */
	ends[2].program = "dash";
	ends[1].program = NULL;
	assert_int_equal(first_of(ends, 3, &first), 102);
	assert_false(first.is_sure);
}

/* Its sender is another process, which may have gone on. */
static void test_a_signal_that_a_process_got_and_its_parent_tells_counts(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "tool", SIGTERM, 10),
				 end_of(JOB, 1, "sh", exited(143), 31)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 2, &first), 101);
	ends[1].wait_status = exited(1);
	assert_int_equal(first_of(ends, 2, &first), JOB);
}

static void test_a_process_of_another_parent_is_not_its_child(void **state)
{
	struct failure ends[] = {end_of(101, 77, "tool", exited(3), 10), end_of(JOB, 1, "sh", exited(3), 31)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 2, &first), JOB);
	assert_true(first.is_sure);
	/* It was reparented to this one, a subreaper. */
	ends[0].reaper_pid = JOB;
	assert_int_equal(first_of(ends, 2, &first), 101);
	/* Its parent had the pid of this process before. */
	ends[1].forked_ns = 2;
	assert_int_equal(first_of(ends, 2, &first), JOB);
}

/* Its name depends on what could be read before it ended, and may be unknown. */
static void test_a_subshell_is_a_part_of_its_shell(void **state)
{
	struct failure ends[] = {end_of(102, 101, NULL, exited(1), 10),
				 end_of(101, JOB, "bash", exited(1), 11),
				 end_of(JOB, 1, "bash step.sh", exited(1), 12)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 3, &first), 102);
	ends[0].is_fork = true;
	assert_int_equal(first_of(ends, 3, &first), 101);
	ends[1].is_fork = true;
	assert_int_equal(first_of(ends, 3, &first), JOB);
	assert_int_equal(first.depth, 1);
	ends[2].wait_status = exited(4);
	assert_int_equal(first_of(ends, 3, &first), 101);
	ends[2] = end_of(JOB, 1, "python3 pool.py", exited(1), 12);
	assert_int_equal(first_of(ends, 3, &first), 101);
	ends[1].wait_status = SIGSEGV;
	assert_int_equal(first_of(ends, 3, &first), 101);
}

static void test_a_question_is_not_the_cause_beside_a_failure(void **state)
{
	const struct failure ends[] = {end_of(101, JOB, "tool", exited(3), 10),
				       end_of(102, JOB, "grep -q", exited(1), 12),
				       end_of(JOB, 1, "bash job.sh", exited(9), 20)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 3, &first), 101);
}

/* Its parent went on, and ended with the status of another child. */
static void test_a_handled_failure_is_not_the_cause(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "tool", exited(3), 10),
				 end_of(102, JOB, "worker", exited(7), 30),
				 end_of(JOB, 1, "sh", exited(7), 31)};
	struct first_failure first;

	(void)state;
	ends[2].last_fork_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
	assert_true(first.is_sure);
	assert_int_equal(other_pid, 0);
	/* Its own status says nothing then. */
	ends[2].wait_status = exited(1);
	ends[2].last_fork_ns = 40 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
	assert_false(first.is_sure);
	assert_int_equal(other_pid, 101);
}

static void test_the_writer_that_crashed_comes_before_its_reader(void **state)
{
	const struct failure ends[] = {end_of(101, JOB, "writer", SIGABRT, 10),
				       end_of(102, JOB, "reader", exited(4), 30),
				       end_of(JOB, 1, "bash", exited(4), 31)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 3, &first), 101);
}

/* Python kills the rest of a pool when one of its processes has failed. */
static void test_a_kill_after_a_failure_is_its_consequence(void **state)
{
	const struct failure ends[] = {
		end_of(101, JOB, "python3", exited(5), 10), end_of(102, JOB, "python3", SIGKILL, 12),
		end_of(103, JOB, "python3", SIGTERM, 12), end_of(JOB, 1, "python3 pool.py", exited(1), 20)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 4, &first), 101);
}

/* GNU parallel asks sh something before it begins. */
static void test_a_kill_of_a_process_that_began_after_a_failure_is_a_cause(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "sh", exited(2), 10), end_of(102, JOB, "tool", SIGKILL, 30),
				 end_of(JOB, 1, "perl parallel", exited(1), 40)};
	struct first_failure first;

	(void)state;
	ends[1].forked_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
}

/* GNU parallel kills a child of its own before it begins. */
static void test_a_child_that_was_killed_before_others_began_is_not_the_cause(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "sleep", SIGKILL, 10),
				 end_of(102, JOB, "tool", exited(3), 30),
				 end_of(JOB, 1, "perl parallel", exited(1), 40)};
	struct first_failure first;

	(void)state;
	ends[1].forked_ns = ends[2].last_fork_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
}

static void test_a_program_that_goes_on_for_long_has_failed_by_itself(void **state)
{
	const struct failure ends[] = {end_of(101, JOB, "tool", exited(3), 10),
				       end_of(JOB, 1, "python3 a.py", exited(1), 900)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 2, &first), JOB);
	assert_false(first.is_sure);
	assert_int_equal(other_pid, 101);
}

static void test_a_program_at_its_time_limit_is_named_and_not_timeout(void **state)
{
	const struct failure ends[] = {
		end_of(102, 101, "solver", SIGTERM, 10), end_of(101, JOB, "timeout", exited(124), 11),
		end_of(103, JOB, "helper", SIGTERM, 12), end_of(JOB, 1, "sh", exited(124), 20)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 4, &first), 102);
}

/* Its parent has ended with 0, so none of the path tells it. */
/* python3 adopts what sh left behind. The orphan ended before sh, so that no event names its new parent. */
static void test_an_orphan_that_no_parent_waited_for_leaves_a_doubt(void **state)
{
	struct failure ends[] = {end_of(103, 102, "culprit", exited(7), 10),
				 end_of(101, JOB, "python3", exited(6), 30),
				 end_of(JOB, 1, "bash", exited(6), 31)};
	struct first_failure first;

	(void)state;
	ends[1].last_fork_ns = ends[2].last_fork_ns = NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 101);
	assert_false(first.is_sure);
	assert_int_equal(other_pid, 103);
	/* Both ended at one time, and then as long apart as a process may go on. */
	ends[0].ended_ns = ends[1].ended_ns;
	(void)first_of(ends, 3, &first);
	assert_int_equal(other_pid, 103);
	ends[0].ended_ns = 10 * NSEC_PER_MSEC;
	ends[1].ended_ns = ends[2].ended_ns = 310 * NSEC_PER_MSEC;
	(void)first_of(ends, 3, &first);
	assert_int_equal(other_pid, 103);
	ends[1].ended_ns = 30 * NSEC_PER_MSEC;
	ends[2].ended_ns = 31 * NSEC_PER_MSEC;
	/* A process without children heard of no other. */
	ends[1].last_fork_ns = 0;
	assert_int_equal(first_of(ends, 3, &first), 101);
	assert_true(first.is_sure);
	/* Neither did one that failed long after it. */
	ends[1].last_fork_ns = NSEC_PER_MSEC;
	ends[1].ended_ns = ends[2].ended_ns = 2 * NSEC_PER_SEC;
	assert_int_equal(first_of(ends, 3, &first), 101);
	assert_true(first.is_sure);
	/* The other one's parent has failed, too, and is a stranger's child. */
	ends[1].ended_ns = 30 * NSEC_PER_MSEC;
	ends[0].parent_pid = JOB;
	(void)first_of(ends, 3, &first);
	assert_int_not_equal(other_pid, 103);
}

static void test_a_crashed_orphan_is_only_probable(void **state)
{
	struct failure ends[] = {end_of(101, 90, "worker", SIGSEGV, 10), end_of(JOB, 1, "sh", exited(1), 20)};
	struct first_failure first;

	(void)state;
	ends[0].reaper_pid = 2;
	assert_int_equal(first_of(ends, 2, &first), 101);
	assert_int_equal(first.depth, 2);
	assert_false(first.is_sure);
	assert_int_equal(other_pid, JOB);
}

/* A child whose name is unknown may have answered a question. */
static void test_a_crashed_orphan_comes_before_a_doubtful_child(void **state)
{
	struct failure ends[] = {end_of(103, 90, "worker", SIGSEGV, 10),
				 end_of(101, JOB, NULL, exited(1), 15), end_of(JOB, 1, "sh", exited(1), 20)};
	struct first_failure first;

	(void)state;
	ends[0].reaper_pid = 2;
	assert_int_equal(first_of(ends, 3, &first), 103);
	assert_int_equal(first.depth, 2);
	assert_int_equal(other_pid, 101);
	/* A kill may come from anyone, and a later crash explains nothing. */
	ends[0].wait_status = SIGKILL;
	assert_int_equal(first_of(ends, 3, &first), 101);
	ends[0].wait_status = SIGSEGV;
	ends[0].ended_ns = 16 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 101);
}

static void test_a_shell_tells_the_last_of_simultaneous_ends(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "tool", exited(5), 10),
				 end_of(102, JOB, "tool", exited(5), 10),
				 end_of(JOB, 1, "sh", exited(5), 11)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 3, &first), 102);
	ends[2].program = "make";
	assert_int_equal(first_of(ends, 3, &first), 101);
}

/* A shell goes on until its last command, so a kill is not the consequence of another failure. */
static void test_a_kill_below_a_shell_is_a_cause(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "tool", exited(3), 10),
				 end_of(102, JOB, "tool", SIGKILL, 12),
				 end_of(JOB, 1, "bash", exited(1), 13)};
	struct first_failure first;

	(void)state;
	assert_int_equal(first_of(ends, 3, &first), 102);
}

/* They overlap if one begins in the moment in which the other ends. */
static void test_a_pipeline_overlaps_in_time(void **state)
{
	struct failure ends[] = {end_of(101, JOB, "writer", SIGSEGV, 20),
				 end_of(102, JOB, "reader", exited(3), 30),
				 end_of(JOB, 1, "bash", exited(3), 31)};
	struct first_failure first;

	(void)state;
	ends[1].forked_ns = ends[2].last_fork_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 101);
	ends[1].forked_ns = ends[2].last_fork_ns = 21 * NSEC_PER_MSEC;
	assert_int_equal(first_of(ends, 3, &first), 102);
}

static void test_a_path_ends_at_its_greatest_depth(void **state)
{
	struct failure ends[FAILURE_DEPTH + 3];
	struct first_failure first;

	(void)state;
	for (int i = 0; i < FAILURE_DEPTH + 3; i++)
		ends[i] = end_of(JOB + FAILURE_DEPTH + 2 - i, JOB + FAILURE_DEPTH + 1 - i, "tool", exited(3),
				 10 + i);
	assert_int_equal(first_of(ends, FAILURE_DEPTH + 3, &first), JOB + FAILURE_DEPTH - 1);
	assert_int_equal(first.depth, FAILURE_DEPTH);
}

static void test_a_full_table_keeps_crashes_and_is_not_sure(void **state)
{
	struct failures failures = {0};
	struct failure end = end_of(101, JOB, "cc1", SIGSEGV, 1),
		       job = end_of(JOB, 1, "make", exited(2), 9000);
	struct first_failure first;

	(void)state;
	failures_add(&failures, &end);
	for (int i = 0; i < 3 * FAILURES_MOST; i++) {
		end = end_of(1000 + i, JOB, i % 2 ? "grep" : "tool", exited(1), 2 + i);
		failures_add(&failures, &end);
	}
	assert_int_equal(failures.count, FAILURES_MOST);
	assert_int_equal(failures.total, 3 * FAILURES_MOST + 1);
	failures_first(&failures, &job, &first);
	assert_int_equal(first.path[1]->pid, 101);
	assert_false(first.is_sure);
	failures_done(&failures);
}

/* All threads of a process tell its status when the first one has ended before. */
static void test_threads_that_tell_one_end_count_once(void **state)
{
	struct failures failures = {0};
	const struct failure end = end_of(101, JOB, "python3", exited(3), 5);

	(void)state;
	failures_add(&failures, &end);
	failures_add(&failures, &end);
	assert_int_equal(failures.total, 1);
	failures_done(&failures);
}

/* Returns the first cause if only samples have seen these ends, within 100 ms before the end of the job. */
static pid_t first_seen_of(const struct failure *ends, size_t count)
{
	struct failures failures = {0};
	struct first_failure first;
	pid_t pid;

	for (size_t i = 0; i < count; i++)
		failures_add(&failures, &ends[i]);
	failures_first_seen(&failures, &ends[count - 1], 100 * NSEC_PER_MSEC, &first);
	pid = first.depth ? first.path[first.depth - 1]->pid : 0;
	failures_done(&failures);
	assert_false(first.is_sure);
	return pid;
}

static void test_without_events_only_a_crash_or_a_status_that_travelled_up_is_named(void **state)
{
	const struct failure crash[] = {end_of(101, JOB, "worker", SIGSEGV, 10),
					end_of(JOB, 1, "python3", exited(1), 5000)};
	const struct failure same[] = {end_of(101, JOB, "worker", exited(3), 950),
				       end_of(JOB, 1, "sh", exited(3), 1000)};
	const struct failure early[] = {end_of(101, JOB, "worker", exited(3), 850),
					end_of(JOB, 1, "sh", exited(3), 1000)};
	const struct failure other[] = {end_of(101, JOB, "worker", exited(4), 950),
					end_of(JOB, 1, "sh", exited(3), 1000)};
	const struct failure maker[] = {end_of(101, JOB, "cc", exited(1), 950),
					end_of(JOB, 1, "make", exited(2), 1000)};
	const struct failure asked[] = {end_of(101, JOB, "grep", exited(1), 950),
					end_of(JOB, 1, "sh", exited(1), 1000)};
	const struct failure ended[] = {end_of(101, JOB, "worker", SIGTERM, 950),
					end_of(JOB, 1, "sh", exited(143), 1000)};
	const struct failure alone[] = {end_of(JOB, 1, "sh", exited(3), 1000)};
	const struct failure well[] = {end_of(101, JOB, "worker", SIGSEGV, 950),
				       end_of(JOB, 1, "sh", 0, 1000)};

	(void)state;
	assert_int_equal(first_seen_of(crash, 2), 101);
	assert_int_equal(first_seen_of(same, 2), 101);
	assert_int_equal(first_seen_of(early, 2), 0);
	assert_int_equal(first_seen_of(other, 2), 0);
	assert_int_equal(first_seen_of(maker, 2), 101);
	assert_int_equal(first_seen_of(asked, 2), 0);
	assert_int_equal(first_seen_of(ended, 2), 0);
	assert_int_equal(first_seen_of(alone, 1), 0);
	assert_int_equal(first_seen_of(well, 2), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_that_ends_with_0_accuses_no_process),
		cmocka_unit_test(test_a_crash_is_found_below_those_that_pass_it_on),
		cmocka_unit_test(test_a_shell_tells_the_status_of_its_last_command),
		cmocka_unit_test(test_a_signal_that_a_process_got_and_its_parent_tells_counts),
		cmocka_unit_test(test_a_process_of_another_parent_is_not_its_child),
		cmocka_unit_test(test_a_subshell_is_a_part_of_its_shell),
		cmocka_unit_test(test_a_question_is_not_the_cause_beside_a_failure),
		cmocka_unit_test(test_a_handled_failure_is_not_the_cause),
		cmocka_unit_test(test_the_writer_that_crashed_comes_before_its_reader),
		cmocka_unit_test(test_a_kill_after_a_failure_is_its_consequence),
		cmocka_unit_test(test_a_kill_of_a_process_that_began_after_a_failure_is_a_cause),
		cmocka_unit_test(test_a_child_that_was_killed_before_others_began_is_not_the_cause),
		cmocka_unit_test(test_a_program_that_goes_on_for_long_has_failed_by_itself),
		cmocka_unit_test(test_a_program_at_its_time_limit_is_named_and_not_timeout),
		cmocka_unit_test(test_an_orphan_that_no_parent_waited_for_leaves_a_doubt),
		cmocka_unit_test(test_a_crashed_orphan_is_only_probable),
		cmocka_unit_test(test_a_crashed_orphan_comes_before_a_doubtful_child),
		cmocka_unit_test(test_a_shell_tells_the_last_of_simultaneous_ends),
		cmocka_unit_test(test_a_kill_below_a_shell_is_a_cause),
		cmocka_unit_test(test_a_pipeline_overlaps_in_time),
		cmocka_unit_test(test_a_path_ends_at_its_greatest_depth),
		cmocka_unit_test(test_a_full_table_keeps_crashes_and_is_not_sure),
		cmocka_unit_test(test_without_events_only_a_crash_or_a_status_that_travelled_up_is_named),
		cmocka_unit_test(test_threads_that_tell_one_end_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
