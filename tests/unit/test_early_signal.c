/* Tests of src/collect/early_signal.c: when a rule of --signal-at is due, and how its row tells of that. */
#include "burner.h"
#include "scratch.h"

#include "base/clock.h"
#include "job/signal_at/signal_rule.h"
#include "metric/typed_rows.h"

#include "collect/collector.h"

enum { STARTED_SECS = 1000 }; /* CLOCK_MONOTONIC, at second 1,700,000,000 of the calendar */

extern const struct collector EARLY_SIGNAL_COLLECTOR;

static int64_t now_ns;
static struct root root;
static struct process_tree tree;
static struct run_ending ending;
static struct signal_rule rule;
static struct collect_context context;
static void *state;
static char told[300]; /* "because, count, why not", or "" without a row */

static int64_t fixed_monotonic_ns(void *unused)
{
	(void)unused;
	return now_ns;
}

static int64_t fixed_realtime_ns(void *unused)
{
	(void)unused;
	return now_ns + (1700000000 - STARTED_SECS) * NSEC_PER_SEC;
}

static int begin(void **unused)
{
	unsetenv("SLURM_JOB_START_TIME");
	unsetenv("SLURM_JOB_END_TIME");
	if (scratch_enter(unused) < 0 || mkdir("proc", 0755) < 0)
		return -1;
	tree = (struct process_tree){.root = &root, .root_pid = 100};
	return root_open(&root, ".", &(struct clocks){fixed_monotonic_ns, fixed_realtime_ns, NULL});
}

static void end_rule(void)
{
	if (state)
		EARLY_SIGNAL_COLLECTOR.close(state);
	state = NULL;
}

static int end(void **unused)
{
	end_rule();
	free(tree.members);
	free(tree.slots);
	root_close(&root);
	unsetenv("SLURM_JOB_START_TIME");
	unsetenv("SLURM_JOB_END_TIME");
	return scratch_leave(unused);
}

static void begin_rule(const char *text)
{
	end_rule();
	assert_null(signal_rule_read(text, strlen(text), &rule));
	ending = (struct run_ending){.reason = NULL};
	context = (struct collect_context){.root = &root,
					   .tree = &tree,
					   .ending = &ending,
					   .signal_rules = &rule,
					   .signal_rule_count = 1,
					   .progress = {.started_ns = STARTED_SECS * NSEC_PER_SEC}};
	assert_int_equal(EARLY_SIGNAL_COLLECTOR.open(&context, &state), 0);
}

struct memory {
	double job, limit, group, available; /* MiB, 0: unknown */
};

static void sample(double secs, struct memory memory)
{
	struct frame frame = {0};
	const struct signal_at_row *row;

	now_ns = (int64_t)((STARTED_SECS + secs) * 1e9);
	context.attend_ns = INT64_MAX;
	frame_begin(&frame, now_ns, 0);
	if (memory.job > 0)
		SINGLE_ROW(&frame, tree)->process_memory_mib = memory.job;
	if (memory.limit > 0)
		SINGLE_ROW(&frame, limits)->memory_limit_mib = memory.limit;
	if (memory.available > 0)
		SINGLE_ROW(&frame, memory)->available_mib = memory.available;
	if (memory.group > 0) {
		struct cgroup_row *cgroup = SINGLE_ROW(&frame, cgroup);

		cgroup->anon_mib = memory.group - 30;
		cgroup->shmem_mib = 20;
		cgroup->kernel_mib = 10;
	}
	EARLY_SIGNAL_COLLECTOR.collect(state, &context, &frame);
	row = FIRST(&frame, signal_at);
	told[0] = '\0';
	if (row) {
		assert_string_equal(row->rule, rule.text);
		assert_int_equal(real_absent(row->elapsed_secs) == 0, row->process_count > 0);
		snprintf(told, sizeof told, "%s, %lld, %s", text_absent(row->because) ? "-" : row->because,
			 (long long)row->process_count, text_absent(row->not_sent) ? "-" : row->not_sent);
	}
	frame_done(&frame);
}

/* A sample, and the last one, which tells of a signal that was not sent. The job's processes are none that a signal reaches. */
static void assert_told(double secs, struct memory memory, const char *wanted)
{
	sample(secs, memory);
	assert_string_equal(told, "");
	ending.reason = "exit";
	sample(secs, (struct memory){0});
	assert_string_equal(told, wanted);
	sample(secs, (struct memory){0});
	assert_string_equal(told, "");
}

#define HAS_ENDED "the job's first process has ended"

static void memory_is_due_at_its_part_of_the_limit(void **unused)
{
	(void)unused;
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 860, .limit = 1000}, "-, 0, memory stayed below that level");
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 900, .limit = 1000}, "900 of 1000 MiB, 0, " HAS_ENDED);
	begin_rule("memory=90%:TERM:python3");
	assert_told(1, (struct memory){.job = 950, .limit = 1000},
		    "950 of 1000 MiB, 0, no process of the job runs that program");
	/* Once it was due, memory may fall again. */
	begin_rule("memory=90%:TERM");
	sample(1, (struct memory){.job = 950, .limit = 1000});
	assert_told(2, (struct memory){.job = 100, .limit = 1000}, "950 of 1000 MiB, 0, " HAS_ENDED);
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 950}, "-, 0, no memory limit is known");
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.limit = 1000}, "-, 0, the job's memory is not known");
}

static void the_nearest_limit_counts(void **unused)
{
	(void)unused;
	/* The group cannot give back more than the processes of the job have. */
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 400, .limit = 1000, .group = 910},
		    "910 of 1000 MiB, 0, " HAS_ENDED);
	/* Without a limit, the group does not matter. */
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 950, .group = 100, .available = 100},
		    "950 of 1050 MiB, 0, " HAS_ENDED);
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 850, .limit = 1000, .group = 100, .available = 10},
		    "850 of 860 MiB, 0, " HAS_ENDED);
	begin_rule("memory=90%:TERM");
	assert_told(1, (struct memory){.job = 800, .limit = 1000, .group = 950, .available = 200},
		    "950 of 1000 MiB, 0, " HAS_ENDED);
}

/* 4 MiB a second for a minute: the limit is 30 s away. */
static void growth_makes_it_due_before_the_level(void **unused)
{
	(void)unused;
	begin_rule("memory=90%:TERM");
	for (int secs = 0; secs < 60; secs++)
		sample(secs, (struct memory){.job = 640 + 4 * secs, .limit = 1000});
	assert_told(60, (struct memory){.job = 880, .limit = 1000},
		    "880 of 1000 MiB, full in 30 s, 0, " HAS_ENDED);
}

static double attends_at(void)
{
	return context.attend_ns == INT64_MAX ? -1 : ns_to_secs(context.attend_ns) - STARTED_SECS;
}

static void time_counts_from_the_start(void **unused)
{
	(void)unused;
	begin_rule("time=58s:TERM");
	sample(1, (struct memory){0});
	assert_true(attends_at() == 58);
	assert_told(57, (struct memory){0}, "-, 0, the recording ended before that time");
	begin_rule("time=58s:TERM");
	assert_told(58, (struct memory){0}, "58 s after the start, 0, " HAS_ENDED);
	/* The job began later than the recorder. */
	begin_rule("time=58s:TERM");
	ending.job_started_ns = (STARTED_SECS + 2) * NSEC_PER_SEC;
	sample(59, (struct memory){0});
	assert_true(attends_at() == 60);
	/* Between two samples, the same. */
	now_ns += NSEC_PER_SEC;
	context.attend_ns = INT64_MAX;
	EARLY_SIGNAL_COLLECTOR.attend(state, &context);
	assert_true(attends_at() == -1);
	assert_told(60, (struct memory){0}, "58 s after the start, 0, " HAS_ENDED);
}

static void time_counts_before_a_limit(void **unused)
{
	(void)unused;
	begin_rule("time=-20s:TERM");
	assert_told(1, (struct memory){0}, "-, 0, no time limit is known");
	assert_true(attends_at() == -1);
	begin_rule("time=-20s/40s:TERM");
	sample(19, (struct memory){0});
	assert_true(attends_at() == 20);
	assert_told(20, (struct memory){0}, "20 s before the limit that was given, 0, " HAS_ENDED);
	setenv("SLURM_JOB_END_TIME", "1700000100", 1);
	begin_rule("time=-20s:TERM");
	sample(79, (struct memory){0});
	assert_true(attends_at() == 80);
	assert_told(80, (struct memory){0}, "20 s before the limit of Slurm, 0, " HAS_ENDED);
	begin_rule("time=-200s:TERM");
	assert_told(1, (struct memory){0}, "-, 0, the job started later than that");
	begin_rule("time=50%:TERM");
	assert_told(50, (struct memory){0}, "50 s before the limit of Slurm, 0, " HAS_ENDED);
	/* The job of Slurm began 10 s before. */
	setenv("SLURM_JOB_START_TIME", "1699999990", 1);
	begin_rule("time=50%:TERM");
	sample(44, (struct memory){0});
	assert_true(attends_at() == 45);
	assert_told(45, (struct memory){0}, "55 s before the limit of Slurm, 0, " HAS_ENDED);
}

static void a_limit_is_looked_for_every_10_seconds(void **unused)
{
	(void)unused;
	begin_rule("time=-20s:TERM");
	sample(1, (struct memory){0});
	setenv("SLURM_JOB_END_TIME", "1700000100", 1);
	sample(10, (struct memory){0});
	assert_true(attends_at() == -1);
	sample(11, (struct memory){0});
	assert_true(attends_at() == 80);
}

static void nothing_is_due_without_processes_or_before_the_job(void **unused)
{
	(void)unused;
	begin_rule("memory=90%:TERM");
	context.tree = NULL;
	assert_told(1, (struct memory){.job = 950, .limit = 1000}, "-, 0, no process is tracked");
	begin_rule("time=1s:TERM");
	context.progress.baseline = true;
	ending.reason = "exit";
	sample(5, (struct memory){0});
	assert_string_equal(told, "");
	assert_true(attends_at() == -1);
}

static void a_signal_is_sent_once_and_told_at_once(void **unused)
{
	struct member member = {.pid = 0};
	struct proc_pid_stat stat;
	int status;

	NEEDS_THE_KERNEL_ITSELF();
	(void)unused;
	root_close(&root);
	assert_int_equal(
		root_open(&root, NULL, &(struct clocks){fixed_monotonic_ns, fixed_realtime_ns, NULL}), 0);
	tree.root_pid = member.pid = start_burner(0);
	assert_int_equal(read_proc_pid_stat(&root, member.pid, &stat), 0);
	member.start_ticks = stat.start_ticks;
	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	begin_rule("memory=50%:TERM");
	sample(1, (struct memory){.job = 400, .limit = 1000});
	assert_string_equal(told, "");
	sample(2, (struct memory){.job = 600, .limit = 1000});
	assert_string_equal(told, "600 of 1000 MiB, 1, -");
	assert_int_equal(waitpid(member.pid, &status, 0), member.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_told(3, (struct memory){.job = 700, .limit = 1000}, "");
}

#define unit_test_of_rule(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_rule(memory_is_due_at_its_part_of_the_limit),
		unit_test_of_rule(the_nearest_limit_counts),
		unit_test_of_rule(growth_makes_it_due_before_the_level),
		unit_test_of_rule(time_counts_from_the_start),
		unit_test_of_rule(time_counts_before_a_limit),
		unit_test_of_rule(a_limit_is_looked_for_every_10_seconds),
		unit_test_of_rule(nothing_is_due_without_processes_or_before_the_job),
		unit_test_of_rule(a_signal_is_sent_once_and_told_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
