/* Tests of src/collect/first_failure.c: the rows of failed processes, from ends that this test makes. */
#include "lone_collector.h"

#include <errno.h>
#include <signal.h>

#include "collect/first_failure.h"
#include "job/programs/program_table.h"
#include "job/programs/programs.h"

enum { CORE = 0x80 };

static struct programs programs;
static enum programs_hearing hearing;
static struct program_process job_process;
static struct program job_program;

/* This test stands for the kernel, which tells of ends. */
enum programs_hearing programs_hear_failures(const struct programs *of)
{
	(void)of;
	return hearing;
}

const struct program *programs_of(struct programs *of, pid_t pid)
{
	return of->process_count && of->processes[0].pid == pid ? of->at : NULL;
}

static int begin(void **state)
{
	hearing = PROGRAMS_HEAR_ALL;
	if (lone_enter(state) < 0)
		return -1;
	job_process = (struct program_process){.pid = LONE_JOB};
	job_program = (struct program){.name = "make"};
	programs = (struct programs){
		.at = &job_program, .count = 1, .processes = &job_process, .process_count = 1};
	lone.tree.programs = &programs;
	lone.context.tree = &lone.tree;
	lone.facts.interval_seconds = 1;
	return 0;
}

static int end(void **state)
{
	failures_done(&programs.failures);
	return lone_leave(state);
}

static int64_t at(double secs)
{
	return lone.context.progress.started_ns + (int64_t)(secs * 1e9);
}

static void add(pid_t pid, pid_t parent, const char *program, int wait_status, double secs)
{
	failures_add(&programs.failures, &(struct failure){.pid = pid,
							   .parent_pid = parent,
							   .reaper_pid = parent,
							   .program = program,
							   .parent = "maker",
							   .wait_status = wait_status,
							   .forked_ns = 1,
							   .ended_ns = at(secs),
							   .cpu_ns = -1});
}

static int exited(int code)
{
	return code << 8;
}

/* The job ends `secs` after the start. */
static const struct first_failure_row *first(int wait_status, double secs, int64_t oom_kills)
{
	lone.ending.has_status = true;
	lone.ending.wait_status = wait_status;
	(void)lone_begin(secs);
	first_failure_fill(&lone.context, &lone.frame, SINGLE_ROW(&lone.frame, run_end), at(secs), oom_kills);
	return FIRST(&lone.frame, first_failure);
}

static const struct failure_row *failed(void)
{
	return FIRST(&lone.frame, failure);
}

static void the_row_tells_of_the_process(void **state)
{
	struct failure failure = {.pid = 103,
				  .parent_pid = 102,
				  .program = "cc1",
				  .parent = "gcc",
				  .wait_status = SIGSEGV | CORE,
				  .ended_ns = at(3),
				  .cpu_ns = 1500 * NSEC_PER_MSEC,
				  .resident_kib = 2048,
				  .sampled_ns = at(2.75)};

	(void)state;
	failures_add(&programs.failures, &failure);
	(void)first(exited(2), 5, 0);
	assert_string_equal(failed()->program, "cc1");
	assert_string_equal(failed()->parents, "gcc");
	assert_int_equal(failed()->pid, 103);
	assert_int_equal(failed()->signal, SIGSEGV);
	assert_int_equal(failed()->core_dumped, 1);
	assert_absent_count(failed()->exit_code, ABSENT_NOT_THIS_END);
	assert_int_equal(failed()->out_of_memory, 0);
	assert_real(failed()->elapsed_secs, 3);
	assert_real(failed()->cpu_secs, 1.5);
	assert_real(failed()->memory_mib, 2);
	assert_real(failed()->sample_age_secs, 0.25);
	assert_int_equal(FIRST(&lone.frame, run_end)->failure_count, 1);
}

static void unknown_figures_are_absent(void **state)
{
	(void)state;
	failures_add(&programs.failures,
		     &(struct failure){.pid = 103, .wait_status = exited(7), .ended_ns = at(1)});
	failures_add(&programs.failures, &(struct failure){.pid = 104, .wait_status = SIGTERM, .cpu_ns = -1});
	(void)first(0, 5, 0);
	/* The one that was killed comes first, if that is a crash. */
	assert_int_equal(failed()->pid, 103);
	assert_int_equal(failed()->exit_code, 7);
	assert_absent_count(failed()->signal, ABSENT_NOT_THIS_END);
	assert_absent_count(failed()->core_dumped, ABSENT_NOT_THIS_END);
	assert_int_equal(text_absent(failed()->program), ABSENT_NOT_YET);
	assert_int_equal(text_absent(failed()->parents), ABSENT_NOT_YET);
	assert_real(failed()->cpu_secs, 0);
	assert_absent_real(failed()->memory_mib, ABSENT_NOT_YET);
	assert_absent_real(failed()->sample_age_secs, ABSENT_NOT_YET);
	assert_absent_real(NEXT(failed(), failure)->cpu_secs, ABSENT_NOT_YET);
	assert_int_equal(NEXT(failed(), failure)->core_dumped, 0);
	assert_null(FIRST(&lone.frame, first_failure));
}

/* As many kills for lack of memory as processes that died of SIGKILL are a proof. */
static void kills_for_lack_of_memory_are_those_of_processes(void **state)
{
	(void)state;
	add(101, LONE_JOB, "a", SIGKILL, 1);
	add(102, LONE_JOB, "b", SIGKILL, 2);
	add(103, LONE_JOB, "c", SIGTERM, 3);
	(void)first(exited(1), 5, 2);
	assert_int_equal(failed()->out_of_memory, 1);
	assert_int_equal(NEXT(failed(), failure)->out_of_memory, 1);
	assert_int_equal(NEXT(NEXT(failed(), failure), failure)->out_of_memory, 0);
	(void)first(exited(1), 5, 1);
	assert_absent_count(failed()->out_of_memory, ABSENT_NO_ATTRIBUTION);
	(void)first(exited(1), 5, 0);
	assert_int_equal(failed()->out_of_memory, 0);
	(void)first(exited(1), 5, -1);
	assert_absent_count(failed()->out_of_memory, ABSENT_NO_ATTRIBUTION);
	assert_int_equal(NEXT(NEXT(failed(), failure), failure)->out_of_memory, 0);
}

static void crashes_come_first_and_sixteen_are_told(void **state)
{
	const struct failure_row *row;
	int count = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		add(200 + i, LONE_JOB, "a", i == 19 ? SIGSEGV : exited(1), 1 + i);
	(void)first(0, 30, 0);
	assert_int_equal(failed()->pid, 219);
	assert_int_equal(NEXT(failed(), failure)->pid, 200);
	for (row = failed(); row; row = NEXT(row, failure))
		count++;
	assert_int_equal(count, 16);
	assert_int_equal(FIRST(&lone.frame, run_end)->failure_count, 20);
	assert_int_equal(lone.frame.missing[ROW_failure], 0);
}

static void the_first_one_has_the_path_to_it(void **state)
{
	const struct first_failure_row *row;

	(void)state;
	add(103, 102, "cc1", SIGSEGV, 3);
	add(102, LONE_JOB, "gcc", exited(1), 3.1);
	row = first(exited(2), 5, 0);
	assert_int_equal(row->pid, 103);
	assert_string_equal(row->program, "cc1");
	assert_int_equal(row->signal, SIGSEGV);
	assert_int_equal(row->core_dumped, 0);
	assert_int_equal(row->out_of_memory, 0);
	assert_absent_count(row->exit_code, ABSENT_NOT_THIS_END);
	assert_string_equal(row->parents, "make (exit status 2) > gcc (exit status 1)");
	assert_real(row->elapsed_secs, 3);
	assert_real(row->before_end_secs, 2);
	assert_absent_real(row->cpu_secs, ABSENT_NOT_YET);
	assert_absent_real(row->memory_mib, ABSENT_NOT_YET);
	assert_string_equal(row->certainty, "sure");
	assert_int_equal(text_absent(row->other_program), ABSENT_NOT_THIS_END);
	assert_absent_count(row->other_pid, ABSENT_NOT_THIS_END);
}

static void the_job_itself_has_no_parents(void **state)
{
	const struct first_failure_row *row = first(SIGSEGV, 5, 0);

	(void)state;
	assert_int_equal(row->pid, LONE_JOB);
	assert_string_equal(row->program, "make");
	assert_int_equal(text_absent(row->parents), ABSENT_NOT_THIS_END);
	assert_real(row->before_end_secs, 0);
	assert_real(row->elapsed_secs, 5);
	/* An event told its end, with the name that it had then. */
	programs.root = (struct failure){.program = "sh", .ended_ns = at(4.5), .wait_status = SIGSEGV};
	row = first(SIGABRT, 5, 0);
	assert_string_equal(row->program, "sh");
	assert_int_equal(row->signal, SIGABRT);
	assert_real(row->before_end_secs, 0.5);
	/* It cannot have ended after the end. */
	programs.root.ended_ns = at(5.5);
	row = first(SIGSEGV, 5, 0);
	assert_real(row->before_end_secs, 0);
	assert_real(row->elapsed_secs, 5);
	/* Without wait4() the event tells the status. */
	lone.ending.has_status = false;
	(void)lone_begin(5);
	first_failure_fill(&lone.context, &lone.frame, SINGLE_ROW(&lone.frame, run_end), at(5), 0);
	assert_int_equal(FIRST(&lone.frame, first_failure)->signal, SIGSEGV);
	programs.process_count = 0;
	programs.root.program = NULL;
	assert_int_equal(text_absent(first(SIGSEGV, 5, 0)->program), ABSENT_NOT_YET);
}

/* It went on for most of a second after a failure of its child, and may have failed by itself. */
static void another_one_that_is_possible_is_told(void **state)
{
	const struct first_failure_row *row;

	(void)state;
	snprintf(job_program.name, sizeof job_program.name, "python3 a.py");
	add(101, LONE_JOB, "tool", exited(3), 0.01);
	row = first(exited(1), 0.9, 0);
	assert_int_equal(row->pid, LONE_JOB);
	assert_int_equal(row->exit_code, 1);
	assert_string_equal(row->certainty, "probably");
	assert_string_equal(row->other_program, "tool");
	assert_int_equal(row->other_pid, 101);
}

/* A path of fifteen names of a hundred bytes is cut. */
static void a_long_path_is_cut(void **state)
{
	char name[101];
	const struct first_failure_row *row;

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (int i = 13; i >= 1; i--)
		add(LONE_JOB + i, LONE_JOB + i - 1, name, exited(3), 3 - i / 100.0);
	row = first(exited(3), 5, 0);
	assert_int_equal(row->pid, LONE_JOB + 13);
	assert_int_equal(strlen(row->parents), 1023);
	assert_int_equal(strncmp(row->parents, "make (exit status 3) > xxx", 26), 0);
	assert_non_null(strstr(row->parents, "xxx (exit status 3) > xxx"));
}

static void a_command_that_was_not_started_has_no_first_failure(void **state)
{
	(void)state;
	lone.ending.exec_errno = ENOENT;
	assert_null(first(exited(127), 1, 0));
	assert_int_equal(FIRST(&lone.frame, run_end)->failure_count, 0);
}

/* Only processes that samples have seen are known, and others may have been killed unseen. */
static void without_events_no_answer_is_sure(void **state)
{
	const struct first_failure_row *row;

	(void)state;
	hearing = PROGRAMS_HEAR_NONE;
	add(101, LONE_JOB, "a", SIGKILL, 4);
	row = first(SIGKILL, 5, 9);
	assert_int_equal(row->pid, 101);
	assert_string_equal(row->certainty, "probably");
	assert_absent_count(row->out_of_memory, ABSENT_NO_ATTRIBUTION);
	assert_int_equal(failed()->pid, 101);
	assert_absent_count(FIRST(&lone.frame, run_end)->failure_count, ABSENT_NO_EVENTS);
	assert_int_equal(lone.frame.missing[ROW_failure], ABSENT_NO_EVENTS);
	assert_int_equal(lone.frame.missing[ROW_first_failure], ABSENT_NO_EVENTS);
}

/* Two intervals and a half second before the end of the job. */
static void without_events_a_status_is_passed_on_at_once(void **state)
{
	(void)state;
	hearing = PROGRAMS_HEAR_NONE;
	add(101, LONE_JOB, "a", exited(9), 4);
	assert_int_equal(first(exited(9), 6.49, 0)->pid, 101);
	assert_null(first(exited(9), 6.51, 0));
	lone.facts.interval_seconds = 2;
	assert_int_equal(first(exited(9), 8.49, 0)->pid, 101);
	assert_null(first(exited(9), 8.51, 0));
}

static void the_reason_for_no_answer_is_told(void **state)
{
	(void)state;
	add(101, LONE_JOB, "a", SIGKILL, 4);
	hearing = PROGRAMS_HEAR_SOME;
	assert_null(first(SIGKILL, 5, 0));
	assert_null(failed());
	assert_int_equal(lone.frame.missing[ROW_failure], ABSENT_EVENTS_LOST);
	assert_int_equal(lone.frame.missing[ROW_first_failure], ABSENT_EVENTS_LOST);
	assert_absent_count(FIRST(&lone.frame, run_end)->failure_count, ABSENT_EVENTS_LOST);
	lone.tree.programs = NULL;
	assert_null(first(SIGKILL, 5, 0));
	assert_int_equal(lone.frame.missing[ROW_first_failure], ABSENT_NOT_WANTED);
	assert_int_equal(lone.frame.missing[ROW_failure], ABSENT_NOT_WANTED);
	lone.context.tree = NULL;
	assert_null(first(SIGKILL, 5, 0));
	assert_int_equal(lone.frame.missing[ROW_failure], ABSENT_NOT_TRACKED);
}

#define failure_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		failure_test(the_row_tells_of_the_process),
		failure_test(unknown_figures_are_absent),
		failure_test(kills_for_lack_of_memory_are_those_of_processes),
		failure_test(crashes_come_first_and_sixteen_are_told),
		failure_test(the_first_one_has_the_path_to_it),
		failure_test(the_job_itself_has_no_parents),
		failure_test(another_one_that_is_possible_is_told),
		failure_test(a_long_path_is_cut),
		failure_test(a_command_that_was_not_started_has_no_first_failure),
		failure_test(without_events_no_answer_is_sure),
		failure_test(without_events_a_status_is_passed_on_at_once),
		failure_test(the_reason_for_no_answer_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
