/* Tests of src/collect/run_end.c: samples that are evidence for the peak of memory. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collect/run_end.h"
#include "metric/typed_rows.h"
#include "unit.h"

static struct collect_context context;
static struct run_end_state state;

static void sample(double secs, double mib, const char *source)
{
	struct frame frame = {0};
	struct tree_row *tree;

	frame_begin(&frame, (int64_t)(secs * 1e9), 0);
	SINGLE_ROW(&frame, sample)->elapsed_secs = secs;
	tree = SINGLE_ROW(&frame, tree);
	tree->process_memory_mib = mib;
	tree->process_memory_source = source;
	run_end_follow(&state, &context, &frame);
	frame_done(&frame);
}

static const struct tree_peak *peak(void)
{
	return run_end_peak(&state);
}

static int begin(void **unused)
{
	(void)unused;
	context = (struct collect_context){0};
	run_end_open(&state);
	return 0;
}

static void a_bound_does_not_count_beside_a_measurement(void **unused)
{
	(void)unused;
	sample(1, 1802, "rss");
	sample(2, 200, "pss");
	assert_true(peak()->mib == 200);
	assert_string_equal(peak()->source, "pss");
	assert_true(peak()->elapsed_secs == 2);
}

static void a_bound_counts_while_nothing_better_follows(void **unused)
{
	(void)unused;
	sample(1, 200, "sampled");
	sample(2, 500, "bound");
	assert_true(peak()->mib == 500);
	assert_string_equal(peak()->source, "bound");
	sample(3, 210, "sampled");
	assert_true(peak()->mib == 210);
}

static void the_last_sample_without_memory_changes_nothing(void **unused)
{
	(void)unused;
	sample(1, 300, "sampled");
	sample(2, no_real(ABSENT_ZOMBIE), no_text(ABSENT_ZOMBIE));
	assert_true(peak()->mib == 300);
}

static void without_any_memory_the_peak_has_the_reason(void **unused)
{
	(void)unused;
	sample(1, no_real(EACCES), no_text(EACCES));
	assert_int_equal(real_absent(peak()->mib), EACCES);
}

/* The evidence of a run in which the kernel killed 32 processes somewhere on the machine. */
static bool evidence_tells_of_kills(int wait_status)
{
	struct run_ending ending = {
		.reason = "exit", .has_status = true, .wait_status = wait_status, .job_ended_ns = 2};
	struct frame frame = {0};
	const struct run_end_row *row;
	bool tells;

	context.ending = &ending;
	state.oom.machine = (struct oom_counter){.before = 0, .now = 32};
	frame_begin(&frame, 2, 0);
	(void)SINGLE_ROW(&frame, sample);
	run_end_fill(&state, &context, &frame);
	row = (const void *)frame.first[ROW_run_end];
	assert_int_equal(row->machine_oom_kills, 32);
	tells = strstr(row->evidence, "32 killed for lack of memory on the machine") != NULL;
	frame_done(&frame);
	return tells;
}

static void kills_on_the_machine_are_evidence_of_a_failure_only(void **unused)
{
	(void)unused;
	assert_false(evidence_tells_of_kills(0));
	assert_true(evidence_tells_of_kills(2 << 8));
	assert_false(evidence_tells_of_kills(SIGTERM));
}

/* The reason of a job that died of SIGKILL at second 5, while the machine's counter of kills rose at `seen_secs`. */
static const char *reason_beside_a_kill_of_the_machine(int64_t seen_secs, int64_t job_kills)
{
	static char reason[40];
	struct process_tree tree = {.members = NULL};
	struct run_ending ending = {.reason = "signal",
				    .has_status = true,
				    .wait_status = SIGKILL,
				    .job_ended_ns = 5 * NSEC_PER_SEC};
	struct frame frame = {0};
	const struct run_end_row *row;

	begin(NULL);
	context.ending = &ending;
	context.tree = &tree;
	state.oom.log_fd = -1;
	state.oom.machine = (struct oom_counter){.before = 3,
						 .now = 3 + job_kills,
						 .rise_after_ns = (seen_secs - 1) * NSEC_PER_SEC,
						 .rise_seen_ns = job_kills ? seen_secs * NSEC_PER_SEC : 0};
	frame_begin(&frame, 5 * NSEC_PER_SEC, 0);
	(void)SINGLE_ROW(&frame, sample);
	run_end_fill(&state, &context, &frame);
	row = (const void *)frame.first[ROW_run_end];
	snprintf(reason, sizeof reason, "%s", row->reason);
	if (strcmp(reason, "oom_kill_suspected") == 0)
		assert_non_null(
			strstr(row->evidence,
			       "1 killed for lack of memory on the machine during the run; confidence "
			       "low"));
	frame_done(&frame);
	return reason;
}

static void a_sigkill_beside_a_kill_of_the_machine_is_suspected(void **unused)
{
	(void)unused;
	assert_string_equal(reason_beside_a_kill_of_the_machine(5, 1), "oom_kill_suspected");
	assert_string_equal(reason_beside_a_kill_of_the_machine(5, 0), "signal");
	/* An hour before, another process was killed. */
	assert_string_equal(reason_beside_a_kill_of_the_machine(-3600, 1), "signal");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_bound_does_not_count_beside_a_measurement, begin),
		cmocka_unit_test_setup(a_bound_counts_while_nothing_better_follows, begin),
		cmocka_unit_test_setup(the_last_sample_without_memory_changes_nothing, begin),
		cmocka_unit_test_setup(kills_on_the_machine_are_evidence_of_a_failure_only, begin),
		cmocka_unit_test_setup(a_sigkill_beside_a_kill_of_the_machine_is_suspected, begin),
		cmocka_unit_test_setup(without_any_memory_the_peak_has_the_reason, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
