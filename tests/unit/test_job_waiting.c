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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		lone_test(a_job_waits_from_its_start_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
