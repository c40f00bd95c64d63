/* Tests of src/collect/job_waiting.c: the time in which a job can have waited. */
#include "lone_collector.h"

#include "job/waits/job_waits.h"

extern const struct collector JOB_WAITING_COLLECTOR;

static int64_t idle_ns_after(double secs)
{
	lone.tree.pass_ns = lone.context.progress.started_ns + (int64_t)(secs * 1e9);
	(void)lone_sample(secs);
	return ((const struct job_waits *)lone.state)->idle_ns;
}

/* The first look came with a late start of the job: its wait was longer than its run. */
static void a_job_waits_from_its_start_to_its_end(void **state)
{
	(void)state;
	lone.root.live = true;
	lone.context.tree = &lone.tree;
	lone.context.wait_rows = 8;
	lone_open(&JOB_WAITING_COLLECTOR);
	lone.ending.job_started_ns = lone.context.progress.started_ns + 3 * NSEC_PER_SEC;
	assert_int_equal(idle_ns_after(4), NSEC_PER_SEC);
	assert_int_equal(idle_ns_after(6), 3 * NSEC_PER_SEC);
	lone.ending.reason = "exit";
	lone.ending.job_ended_ns = lone.context.progress.started_ns + 7 * NSEC_PER_SEC;
	assert_int_equal(idle_ns_after(9), 4 * NSEC_PER_SEC);
}

/* Two of eight seconds. */
static void the_end_has_each_wait_with_its_part(void **state)
{
	const struct run_end_wait_row *row;
	struct job_waits *waits;

	(void)state;
	lone.root.live = true;
	lone.context.tree = &lone.tree;
	lone.context.wait_rows = 8;
	lone_open(&JOB_WAITING_COLLECTOR);
	waits = lone.state;
	waits->rows[0] = (struct counted_wait){.program = "make", .ns = 2 * NSEC_PER_SEC, .looks = 3};
	snprintf(waits->rows[0].wait.target, sizeof waits->rows[0].wait.target, "a pipe");
	waits->rows[1] = (struct counted_wait){.ns = NSEC_PER_SEC, .looks = 1};
	waits->count = 2;
	waits->idle_ns = 8 * NSEC_PER_SEC;
	(void)SINGLE_ROW(lone_begin(0), run_end);
	row = FIRST(lone_fill(), run_end_wait);
	assert_string_equal(row->target, "a pipe");
	assert_string_equal(row->program, "make");
	assert_int_equal(text_absent(row->detail), ABSENT_NOT_GIVEN);
	assert_real(row->wait_secs, 2);
	assert_real(row->wait_pct, 25);
	assert_int_equal(row->look_count, 3);
	row = NEXT(row, run_end_wait);
	assert_string_equal(row->program, "others");
	assert_int_equal(text_absent(row->target), ABSENT_NOT_GIVEN);
	assert_real(row->wait_pct, 12.5);
	assert_null(NEXT(row, run_end_wait));
}

static void without_a_job_the_reason_is_told(void **state)
{
	(void)state;
	lone_open(&JOB_WAITING_COLLECTOR);
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_wait], ABSENT_NOT_TRACKED);
	assert_int_equal(lone.frame.missing[ROW_run_end_wait], ABSENT_NOT_TRACKED);
	lone.context.tree = &lone.tree;
	(void)lone_sample(2);
	assert_int_equal(lone.frame.missing[ROW_wait], ABSENT_NOT_WANTED);
	assert_int_equal(lone.frame.missing[ROW_run_end_wait], ABSENT_NOT_WANTED);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		lone_test(a_job_waits_from_its_start_to_its_end),
		lone_test(the_end_has_each_wait_with_its_part),
		lone_test(without_a_job_the_reason_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
