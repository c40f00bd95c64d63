/* Tests of src/collect/run_end.c: evidence for the peak of memory, and for the cause of the end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/run_end.h"
#include "metric/typed_rows.h"
#include "unit.h"

static struct collect_context context;
static struct run_end_state state;

static void sample_with_rss(double secs, double mib, const char *source, double rss_mib)
{
	struct frame frame = {0};
	struct tree_row *tree;

	frame_begin(&frame, (int64_t)(secs * 1e9), 0);
	SINGLE_ROW(&frame, sample)->elapsed_secs = secs;
	tree = SINGLE_ROW(&frame, tree);
	tree->process_memory_mib = mib;
	tree->process_memory_source = source;
	tree->process_rss_mib = rss_mib;
	run_end_follow(&state, &context, &frame);
	frame_done(&frame);
}

static void sample(double secs, double mib, const char *source)
{
	sample_with_rss(secs, mib, source, no_real(ABSENT_ZOMBIE));
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

/* Processes that nothing could measure have ended before the others were measured. */
static void a_bound_of_memory_that_has_gone_counts(void **unused)
{
	(void)unused;
	sample_with_rss(1, 100, "pss", 110);
	sample_with_rss(2, 600, "bound", 900);
	sample_with_rss(3, 100, "pss", 110);
	assert_true(peak()->mib == 600);
	assert_string_equal(peak()->source, "bound");
	assert_true(peak()->elapsed_secs == 2);
	/* It had at most the 400 that are measured now, and the 150 that have left. */
	sample_with_rss(4, 400, "sampled", 750);
	assert_true(peak()->mib == 550);
	sample_with_rss(5, 400, "sampled", 900);
	assert_true(peak()->mib == 400);
	assert_string_equal(peak()->source, "sampled");
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

/* The kernel's mark of a process counts in MiB, from the first sample that has seen it. */
static void the_largest_process_is_that_of_the_tree(void **unused)
{
	struct process_tree tree = {.cgroup_folder = -1, .memory.largest_kib = 300 * 1024};

	(void)unused;
	context.tree = &tree;
	sample(1, 200, "pss");
	assert_true(state.largest_mib == 300 && state.largest_elapsed_secs == 1);
	sample(2, 200, "pss");
	assert_true(state.largest_elapsed_secs == 1);
	tree.memory.largest_kib++;
	sample(3, 200, "pss");
	assert_true(state.largest_mib == 300 + 1 / 1024.0 && state.largest_elapsed_secs == 3);
	tree.memory.largest_kib = 1;
	sample(4, 200, "pss");
	assert_true(state.largest_elapsed_secs == 3);
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

/* ---- the record ---- */

static struct frame filled;

/* The row of a run from second 2 to 12, whose recorder began at second 1. The next call makes it invalid. */
static const struct run_end_row *fill_for(struct run_ending ending)
{
	static struct run_ending kept;

	kept = ending;
	kept.job_started_ns = 2 * NSEC_PER_SEC;
	kept.job_ended_ns = 12 * NSEC_PER_SEC;
	context.ending = &kept;
	context.progress = (struct run_progress){
		.started_ns = NSEC_PER_SEC, .number = 9, .missed_total = 3, .dropped = 4};
	frame_done(&filled);
	filled = (struct frame){0};
	frame_begin(&filled, 13 * NSEC_PER_SEC, 0);
	(void)SINGLE_ROW(&filled, sample);
	run_end_fill(&state, &context, &filled);
	return (const void *)filled.first[ROW_run_end];
}

static int end_record(void **unused)
{
	(void)unused;
	frame_done(&filled);
	filled = (struct frame){0};
	run_end_close(&state);
	return 0;
}

static struct run_ending status_of(int wait_status)
{
	return (struct run_ending){.reason = WIFSIGNALED(wait_status) ? "signal" : "exit",
				   .has_status = true,
				   .wait_status = wait_status};
}

static void the_evidence_is_the_kernels_own(void **unused)
{
	const struct run_end_row *row = fill_for(status_of(3 << 8));

	(void)unused;
	assert_string_equal(row->reason, "exit");
	assert_string_equal(row->evidence, "wait status: exit code 3");
	assert_int_equal(row->exit_code, 3);
	assert_int_equal(count_absent(row->signal), ABSENT_NOT_THIS_END);
	row = fill_for(status_of(SIGSEGV | 0x80));
	assert_string_equal(row->evidence, "wait status: killed by SIGSEGV, core dumped");
	assert_int_equal(count_absent(row->exit_code), ABSENT_NOT_THIS_END);
	assert_int_equal(row->signal, SIGSEGV);
	assert_int_equal(row->core_dumped, 1);
	row = fill_for(status_of(SIGTERM));
	assert_string_equal(row->evidence, "wait status: killed by SIGTERM");
	assert_int_equal(row->core_dumped, 0);
	row = fill_for((struct run_ending){.reason = "exec_failed", .exec_errno = ENOENT});
	assert_string_equal(row->evidence, "execve: No such file or directory");
	assert_int_equal(row->exit_code, 127);
	assert_int_equal(fill_for((struct run_ending){.reason = "x", .exec_errno = EACCES})->exit_code, 126);
	row = fill_for((struct run_ending){.reason = "target_exited"});
	assert_string_equal(row->evidence, "the process has gone");
	row = fill_for((struct run_ending){.reason = "duration"});
	assert_string_equal(row->evidence, "the duration that was asked for is over");
	row = fill_for((struct run_ending){.reason = "stopped", .stopped_by = SIGINT});
	assert_string_equal(row->evidence, "the tracker got SIGINT");
	row = fill_for((struct run_ending){.reason = "stopped"});
	assert_int_equal(text_absent(row->evidence), ABSENT_NOT_GIVEN);
}

static void times_and_counts_are_those_of_the_job(void **unused)
{
	struct run_ending ending = status_of(0);
	const struct run_end_row *row;
	const struct run_end_signal_row *sent;

	(void)unused;
	row = fill_for(ending);
	assert_true(row->wall_secs == 10);
	assert_int_equal(row->samples, 10);
	assert_int_equal(row->missed_ticks, 3);
	assert_int_equal(row->dropped_samples, 4);
	assert_int_equal(real_absent(row->utime_secs), ECHILD);
	assert_int_equal(count_absent(row->voluntary_switches), ECHILD);
	ending.has_reaped = true;
	ending.reaped = (struct rusage){
		.ru_utime = {1, 500000}, .ru_stime = {2, 250000}, .ru_nvcsw = 5, .ru_nivcsw = 6};
	ending.signals[0] = (struct sent_signal){SIGTERM, 4 * NSEC_PER_SEC};
	ending.signals[1] = (struct sent_signal){SIGKILL, 5 * NSEC_PER_SEC};
	ending.signal_count = 2;
	row = fill_for(ending);
	assert_true(row->utime_secs == 1.5 && row->stime_secs == 2.25);
	assert_int_equal(row->voluntary_switches, 5);
	assert_int_equal(row->involuntary_switches, 6);
	sent = FIRST(&filled, run_end_signal);
	assert_string_equal(sent->signal, "SIGTERM");
	assert_true(sent->elapsed_secs == 3);
	sent = NEXT(sent, run_end_signal);
	assert_string_equal(sent->signal, "SIGKILL");
	assert_true(sent->elapsed_secs == 4);
	assert_null(NEXT(sent, run_end_signal));
	/* The first 32 are kept. */
	ending.signal_count = 100;
	row = fill_for(ending);
	assert_int_equal(row->samples, 10);
}

/* Two kills in the job's cgroup, between the seconds `after` and `seen`. */
static void have_kills(bool only_tree, int64_t after, int64_t seen)
{
	context.memory_cgroup.only_tree = only_tree;
	state.oom.cgroup = (struct oom_counter){
		.now = 2, .rise_after_ns = after * NSEC_PER_SEC, .rise_seen_ns = seen * NSEC_PER_SEC};
}

#define OF_JOB "2 of the job's processes killed for lack of memory"
#define OF_GROUP "2 killed for lack of memory in the job's cgroup, which others share"

static void kills_in_the_cgroup_are_evidence(void **unused)
{
	const struct run_end_row *row;

	(void)unused;
	have_kills(true, 10, 11);
	row = fill_for(status_of(1 << 8));
	assert_string_equal(row->evidence, "wait status: exit code 1; " OF_JOB);
	assert_int_equal(row->oom_kills, 2);
	assert_int_equal(row->cgroup_oom_kills, 2);
	assert_int_equal(count_absent(row->machine_oom_kills), ABSENT_NO_SUCH_COUNTER);
	row = fill_for((struct run_ending){.reason = "stopped"});
	assert_string_equal(row->evidence, OF_JOB);
	have_kills(true, 3, 4);
	row = fill_for(status_of(0));
	assert_string_equal(row->evidence,
			    "wait status: exit code 0; " OF_JOB ", the last at least 8 s before the end");
	have_kills(false, 10, 11);
	row = fill_for(status_of(1 << 8));
	assert_string_equal(row->evidence, "wait status: exit code 1; " OF_GROUP);
	assert_int_equal(count_absent(row->oom_kills), ABSENT_NO_ATTRIBUTION);
	assert_int_equal(row->cgroup_oom_kills, 2);
}

static void a_sigkill_beside_kills_of_the_cgroup_is_one_of_them(void **unused)
{
	struct process_tree tree = {.root_pid = 7};
	static const char RECORD[] = "3,1,2,-;Out of memory: Killed process 7 (x)\n";
	const struct run_end_row *row;
	int ends[2];

	(void)unused;
	context.tree = &tree;
	have_kills(true, 10, 11);
	row = fill_for(status_of(SIGKILL));
	assert_string_equal(row->reason, "oom_kill_confirmed");
	assert_string_equal(row->evidence, "wait status: killed by SIGKILL; " OF_JOB);
	/* The kernel kills with no other signal, and the status of a process that is not our child is unknown. */
	assert_string_equal(fill_for(status_of(SIGTERM))->reason, "signal");
	assert_string_equal(fill_for((struct run_ending){.reason = "target_exited"})->reason,
			    "target_exited");
	have_kills(false, 10, 11);
	row = fill_for(status_of(SIGKILL));
	assert_string_equal(row->reason, "oom_kill_suspected");
	assert_string_equal(row->evidence, "wait status: killed by SIGKILL; " OF_GROUP "; confidence medium");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], RECORD, strlen(RECORD)), strlen(RECORD));
	state.oom.log_fd = ends[0];
	state.oom.cgroup.now = 0;
	row = fill_for((struct run_ending){.reason = "target_exited"});
	assert_string_equal(row->reason, "oom_kill_confirmed");
	assert_string_equal(row->evidence, "the process has gone; the kernel's log names it");
	close(ends[1]);
}

/* ---- limits of processes ---- */

static void assert_limit(struct run_ending ending, const char *wanted)
{
	const struct run_end_row *row = fill_for(ending);

	if (wanted)
		assert_string_equal(row->process_limit, wanted);
	else
		assert_int_equal(text_absent(row->process_limit), ABSENT_NOT_GIVEN);
}

static struct run_ending cpu_ending(int wait_status, int64_t limit_secs, int used_ms)
{
	struct run_ending ending = status_of(wait_status);

	ending.cpu_limit_secs = limit_secs;
	ending.has_reaped = true;
	ending.reaped.ru_utime.tv_sec = used_ms / 1000;
	ending.reaped.ru_stime.tv_usec = used_ms % 1000 * 1000;
	return ending;
}

static void a_limit_of_cpu_time_needs_its_signal(void **unused)
{
	(void)unused;
	/* The kernel has raised the limit by a second after its signal. A shell that tells of it has the limit itself. */
	assert_limit(cpu_ending(SIGXCPU, 10, 0), "9 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending((128 + SIGXCPU) << 8, 10, 0), "10 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending(SIGKILL, 10, 9000), "10 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending(SIGKILL, 10, 8990), NULL);
	assert_limit(cpu_ending((128 + SIGKILL) << 8, 10, 9000), "10 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending(SIGKILL, 5, 4500), "5 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending(SIGKILL, 5, 4400), NULL);
	assert_limit(cpu_ending(SIGKILL, 4, 3500), "4 s of CPU time (ulimit -t)");
	assert_limit(cpu_ending(SIGKILL, 4, 3400), NULL);
	assert_limit(cpu_ending(SIGTERM, 10, 20000), NULL);
	assert_limit(cpu_ending(SIGXCPU, 0, 20000), NULL);
	assert_limit(cpu_ending(128 << 8, 10, 20000), NULL);
}

static struct run_ending size_ending(int wait_status, int64_t space_mib, int64_t data_mib, int64_t file_bytes,
				     long resident_mib)
{
	struct run_ending ending = status_of(wait_status);

	ending.address_space_bytes = space_mib << 20;
	ending.data_bytes = data_mib << 20;
	ending.file_bytes = file_bytes;
	ending.has_reaped = resident_mib > 0;
	ending.reaped.ru_maxrss = 1024 * resident_mib;
	return ending;
}

static void limits_of_size_are_told_of_a_failure(void **unused)
{
	(void)unused;
	assert_limit(size_ending(1 << 8, 100, 0, 0, 0), "an address space of 100 MiB (ulimit -v)");
	assert_limit(size_ending(1 << 8, 100, 0, 0, 74), "an address space of 100 MiB (ulimit -v)");
	assert_limit(size_ending(1 << 8, 100, 0, 0, 75),
		     "an address space of 100 MiB (ulimit -v), near its peak of 75 MiB");
	assert_limit(size_ending(SIGABRT, 0, 50, 0, 49),
		     "data of 50 MiB (ulimit -d), near its peak of 49 MiB");
	assert_limit(size_ending(1 << 8, 0, 0, 1536, 0), "files of 1.5 KiB (ulimit -f)");
	assert_limit(size_ending(1 << 8, 100, 50, 1536, 0), "an address space of 100 MiB (ulimit -v)");
	assert_limit(size_ending(1 << 8, 0, 50, 1536, 0), "data of 50 MiB (ulimit -d)");
	/* This signal speaks of files alone. */
	assert_limit(size_ending(SIGXFSZ, 100, 50, 1536, 0), "files of 1.5 KiB (ulimit -f)");
	assert_limit(size_ending((128 + SIGXFSZ) << 8, 100, 50, 1536, 0), "files of 1.5 KiB (ulimit -f)");
	assert_limit(size_ending(1 << 8, 0, 0, 0, 0), NULL);
	assert_int_equal(text_absent(fill_for(size_ending(0, 100, 50, 1536, 0))->process_limit),
			 ABSENT_NOT_THIS_END);
	assert_int_equal(
		text_absent(fill_for((struct run_ending){.reason = "x", .data_bytes = 9})->process_limit),
		ABSENT_NOT_THIS_END);
}

/* ---- peaks ---- */

static void the_largest_process_raises_the_peak(void **unused)
{
	const struct run_end_row *row;

	(void)unused;
	sample(3, 200, "sampled");
	row = fill_for(size_ending(0, 0, 0, 0, 100));
	assert_true(row->memory_peak_mib == 200 && row->memory_peak_elapsed_secs == 3);
	assert_string_equal(row->memory_peak_source, "sampled");
	assert_true(row->largest_process_peak_mib == 100);
	row = fill_for(size_ending(0, 0, 0, 0, 300));
	assert_true(row->memory_peak_mib == 300 && row->largest_process_peak_mib == 300);
	assert_string_equal(row->memory_peak_source, "largest_process");
	assert_int_equal(real_absent(row->memory_peak_elapsed_secs), ABSENT_NO_SUCH_COUNTER);
	/* A mark that a sample saw had been reached by then. */
	state.largest_mib = 250;
	state.largest_elapsed_secs = 7;
	row = fill_for(size_ending(0, 0, 0, 0, 250));
	assert_true(row->memory_peak_mib == 250 && row->memory_peak_elapsed_secs == 7);
	row = fill_for(status_of(0));
	assert_true(row->memory_peak_mib == 250 && row->largest_process_peak_mib == 250);
	state.largest_mib = 0;
	row = fill_for(status_of(0));
	assert_true(row->memory_peak_mib == 200 && real_absent(row->largest_process_peak_mib));
}

static double cgroup_peak_for(bool only_tree, bool wrapped, bool own, double before, double now)
{
	struct process_tree tree = {.started_by_caller = wrapped};
	double peak_mib;

	context.tree = &tree;
	context.own_cgroup = own;
	context.memory_cgroup.only_tree = only_tree;
	state.cgroup_peak_before_mib = before;
	state.cgroup_peak_mib = now;
	peak_mib = fill_for(status_of(0))->cgroup_memory_peak_mib;
	context.tree = NULL;
	return peak_mib;
}

static void the_peak_of_a_cgroup_may_be_of_others(void **unused)
{
	(void)unused;
	assert_true(cgroup_peak_for(true, false, false, 50, 50) == 50);
	assert_true(cgroup_peak_for(true, true, false, 50, 51) == 51);
	assert_true(cgroup_peak_for(false, true, true, 50, 50) == 50);
	assert_int_equal(real_absent(cgroup_peak_for(true, true, false, 50, 50)), ABSENT_NO_ATTRIBUTION);
	assert_int_equal(real_absent(cgroup_peak_for(false, true, false, 50, 51)), ABSENT_NO_ATTRIBUTION);
	assert_int_equal(real_absent(cgroup_peak_for(false, false, false, 50, 50)), ABSENT_NO_ATTRIBUTION);
	assert_int_equal(real_absent(cgroup_peak_for(true, true, true, 50, no_real(ABSENT_NO_CGROUP))),
			 ABSENT_NO_CGROUP);
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
		cmocka_unit_test_setup(the_largest_process_is_that_of_the_tree, begin),
		cmocka_unit_test_setup_teardown(the_evidence_is_the_kernels_own, begin, end_record),
		cmocka_unit_test_setup_teardown(times_and_counts_are_those_of_the_job, begin, end_record),
		cmocka_unit_test_setup_teardown(kills_in_the_cgroup_are_evidence, begin, end_record),
		cmocka_unit_test_setup_teardown(a_sigkill_beside_kills_of_the_cgroup_is_one_of_them, begin,
						end_record),
		cmocka_unit_test_setup(a_bound_of_memory_that_has_gone_counts, begin),
		cmocka_unit_test_setup_teardown(a_limit_of_cpu_time_needs_its_signal, begin, end_record),
		cmocka_unit_test_setup_teardown(limits_of_size_are_told_of_a_failure, begin, end_record),
		cmocka_unit_test_setup_teardown(the_largest_process_raises_the_peak, begin, end_record),
		cmocka_unit_test_setup_teardown(the_peak_of_a_cgroup_may_be_of_others, begin, end_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
