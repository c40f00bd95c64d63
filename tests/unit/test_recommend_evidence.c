/* The evidence that one recording gives for advice: peaks, kills, the reason to conclude nothing, its place among ranks, and cores. */
#include "scratch.h"

#include <math.h>

#include "metric/typed_rows.h"
#include "recommend/recommend.h"

static struct advice_run run;
static struct run_facts *facts;
static const struct evidence *found;

static void forget(void)
{
	rt_summary_free(run.summary);
	rt_stats_free(run.stats);
	run = (struct advice_run){0};
}

/* Two samples of 50 s with 2 cores and 100 MiB, and further members of start and end. NULL: the recording has no end. */
static void record(const char *of_start, const char *of_end)
{
	struct rt_problem problem = {""};
	struct buffer text = BUFFER(1 << 16);
	size_t count;
	struct rt_stat_spec *specs = advice_specs(&count);

	forget();
	for (int i = 0; i < 2; i++) {
		buffer_printf(&text,
			      "{\"timestamp\":%d,\"elapsed_secs\":%d,\"sample\":%d,\"actual_interval_ms\":"
			      "50000,\"host\":\"h\","
			      "\"cpu\":{\"process_cores_used\":2,\"process_utime_secs\":100,\"process_stime_"
			      "secs\":0,"
			      "\"process_memory_mib\":100}",
			      1000 + 50 * i, 50 + 50 * i, i);
		if (i == 0)
			buffer_printf(&text, ",\"run_start\":{\"interval_secs\":50,\"tracked_pid\":7%s%s}",
				      *of_start ? "," : "", of_start);
		if (i && of_end)
			buffer_printf(&text, ",\"run_end\":{%s}", of_end);
		buffer_add_text(&text, "}\n");
	}
	put_file("run.jsonl", text.data, text.length);
	if (advice_run_read(&run, "run.jsonl", specs, count, &problem) < 0)
		fail_msg("%s: %s", problem.text, text.data);
	facts = &run.summary->facts;
	found = &run.evidence;
	free(specs);
	buffer_done(&text);
}

static void look_again(void)
{
	*run.thin = '\0';
	find_evidence(&run);
}

static int begin(void **state)
{
	int result = scratch_enter(state);

	if (result == 0)
		record("", "\"exit_code\":0");
	return result;
}

static int done(void **state)
{
	forget();
	return scratch_leave(state);
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

static struct total sum_of(double sum)
{
	return (struct total){.sum = sum, .present = true};
}

static struct run_end_row *end_row(void)
{
	return (struct run_end_row *)FIRST(record_identity(facts->record), run_end);
}

static void limit_memory(double mib)
{
	facts->allowances =
		(struct allowances){.count = 1, .list = {{0, mib, 4096, NAN, NAN, NAN}}, .secs = {100}};
}

static void a_peak_is_that_of_the_tree_unless_the_end_has_a_larger_one(void **state)
{
	(void)state;
	assert_near(found->sampled_peak_mib, 100);
	assert_true(isnan(found->process_peak_mib) && isnan(found->between_peak_mib));
	end_row()->memory_peak_mib = 150;
	end_row()->memory_peak_source = "pss";
	look_again();
	assert_near(found->sampled_peak_mib, 150);
	end_row()->memory_peak_source = "cgroup";
	look_again();
	assert_near(found->sampled_peak_mib, 100);
	end_row()->memory_peak_source = "largest_process";
	look_again();
	assert_near(found->sampled_peak_mib, 100);
	/* A page that a process maps twice counts twice for the kernel, and once for the tree. */
	end_row()->largest_process_peak_mib = 140;
	look_again();
	assert_near(found->process_peak_mib, 140);
	end_row()->largest_process_peak_mib = 160;
	look_again();
	assert_near(found->process_peak_mib, 150);
	/* A run that ended well did not need more than its limit. */
	end_row()->memory_peak_between_mib = 300;
	look_again();
	assert_near(found->between_peak_mib, 300);
	limit_memory(280);
	look_again();
	assert_near(found->between_peak_mib, 280);
	limit_memory(301);
	look_again();
	assert_near(found->between_peak_mib, 300);
}

static void swapped_memory_counts_from_one_mib(void **state)
{
	(void)state;
	facts->memory_and_swap.most = 180;
	facts->swap.most = 0.99;
	look_again();
	assert_false(found->swapped);
	assert_near(found->sampled_peak_mib, 100);
	facts->swap.most = 1;
	look_again();
	assert_true(found->swapped);
	assert_near(found->sampled_peak_mib, 180);
	facts->memory_and_swap.most = 90;
	look_again();
	assert_near(found->sampled_peak_mib, 100);
}

/* A tenth of a MiB for a process, a fortieth for a thread, and a 512th of what is mapped. */
static void memory_of_the_kernel_is_reckoned_or_charged(void **state)
{
	(void)state;
	assert_near(found->kernel_mib, 0.1 + 0.025 + 100 / 512.0);
	facts->processes.most = 20;
	facts->threads.most = 200;
	facts->memory_rss.most = 5120;
	look_again();
	assert_near(found->kernel_mib, 2 + 5 + 10);
	facts->memory_rss.most = 1;
	facts->memory.most = 5120;
	look_again();
	assert_near(found->kernel_mib, 2 + 5 + 10);
	facts->memory.most = facts->memory_rss.most = NAN;
	look_again();
	assert_near(found->kernel_mib, 2 + 5);
	facts->memory.most = 100;
	/* The group charged more than the peak: its largest sample, or its peak without the cache. */
	end_row()->cgroup_memory_peak_mib = 180;
	facts->group_memory.most = 130;
	facts->group_cache.most = 60;
	look_again();
	assert_near(found->kernel_mib, 30);
	facts->group_cache.most = 40;
	look_again();
	assert_near(found->kernel_mib, 40);
	facts->group_cache.most = 79;
	facts->group_memory.most = 101;
	look_again();
	assert_near(found->kernel_mib, 7 + 100 / 512.0);
}

/* Files in a tmpfs count as far as the group's shared memory grew, and the job wrote bytes that went to no disk. */
static void files_in_memory_count_as_far_as_the_job_wrote_them(void **state)
{
	double alone = found->kernel_mib;

	(void)state;
	facts->memory_and_files.most = 350;
	facts->less_group_shared.most = -50;
	facts->written_chars = sum_of(150.0 * 1048576);
	facts->written_bytes = sum_of(30.0 * 1048576);
	look_again();
	assert_near(found->kernel_mib, alone + 120);
	facts->written_bytes = sum_of(-100.0 * 1048576);
	look_again();
	assert_near(found->kernel_mib, alone + 200);
	facts->memory_and_files.most = 100;
	look_again();
	assert_near(found->kernel_mib, alone);
	facts->memory_and_files.most = 350;
	facts->written_chars = (struct total){0};
	look_again();
	assert_near(found->kernel_mib, alone);
}

static void a_cache_that_was_too_small_keeps_its_limit(void **state)
{
	(void)state;
	limit_memory(200);
	facts->read_bytes = sum_of(1000.0 * 1048576);
	facts->cache_refault_bytes = sum_of(499.0 * 1048576);
	look_again();
	assert_near(found->cache_limit_mib, 0);
	facts->cache_refault_bytes = sum_of(500.0 * 1048576);
	look_again();
	assert_near(found->cache_limit_mib, 200);
	limit_memory(NAN);
	facts->allowances.list[0].memory_total_mib = 200;
	look_again();
	assert_near(found->cache_limit_mib, 0);
}

static void kill_with(enum oom_kind kind, double limit_mib)
{
	record("", kind == OOM_STEP ? "\"exit_code\":0,\"oom_kills\":1"
				    : "\"reason\":\"oom_kill_confirmed\",\"signal\":9,\"oom_kills\":1");
	end_row()->oom_kill_limit_mib = limit_mib;
	look_again();
}

static void a_killed_run_had_its_limit_and_needs_more(void **state)
{
	(void)state;
	kill_with(OOM_CONFIRMED, 400);
	assert_int_equal(found->oom, OOM_CONFIRMED);
	assert_near(found->oom_had_mib, 400);
	assert_near(found->oom_floor_mib, 960);
	assert_near(found->limit_mib, 400);
	assert_false(found->good || found->is_whole || found->failed);
	/* At least 100 MiB more than a small limit, and what it held, if that is more than the limit. */
	kill_with(OOM_STEP, 60);
	assert_int_equal(found->oom, OOM_STEP);
	assert_near(found->oom_had_mib, 100);
	assert_near(found->oom_floor_mib, 240);
	facts->memory.most = 10;
	look_again();
	assert_near(found->oom_had_mib, 60);
	assert_near(found->oom_floor_mib, 160);
	/* So does what the group held, if it is the job's own. */
	facts->group_memory.most = 70;
	look_again();
	assert_near(found->oom_had_mib, 60);
	end_row()->cgroup_memory_peak_mib = 75;
	look_again();
	assert_near(found->oom_had_mib, 70);
	assert_near(found->oom_floor_mib, 170);
}

/* Without a limit the machine's memory was exhausted, perhaps by others. */
static void a_run_that_had_little_of_an_exhausted_machine_was_a_bystander(void **state)
{
	(void)state;
	kill_with(OOM_CONFIRMED, NAN);
	facts->memory.most = 1000;
	facts->total_memory_mib = 2000;
	look_again();
	assert_near(found->oom_had_mib, 1000);
	assert_near(found->oom_floor_mib, 2400);
	facts->total_memory_mib = 2001;
	look_again();
	assert_near(found->oom_floor_mib, 1200);
	facts->memory.most = NAN;
	look_again();
	assert_int_equal(found->oom, OOM_CONFIRMED);
	assert_near(found->oom_had_mib, 0);
	assert_near(found->oom_floor_mib, 0);
	/* The group is others' as well, and no limit of it ended the job. */
	facts->group_memory.most = 1900;
	look_again();
	assert_near(found->oom_had_mib, 0);
	end_row()->cgroup_memory_peak_mib = 1950;
	look_again();
	assert_near(found->oom_had_mib, 1900);
}

/* The counter of the group may tell of a process of others. */
static void a_step_of_a_shared_group_was_the_jobs_if_it_held_half(void **state)
{
	(void)state;
	record("", "\"exit_code\":0");
	facts->oom.kills_first = 0;
	facts->oom.kills_last = 1;
	facts->oom.kill_limit_mib = 200;
	facts->memory.most = 99;
	look_again();
	assert_int_equal(found->oom, OOM_NONE);
	assert_near(found->limit_mib, 200);
	assert_true(found->good);
	facts->memory.most = 100;
	look_again();
	assert_int_equal(found->oom, OOM_STEP);
	assert_near(found->oom_had_mib, 200);
}

static void try_thin(const char *expected)
{
	look_again();
	assert_string_equal(run.thin, expected);
	assert_int_equal(found->good, !*expected);
}

static void a_recording_says_little_for_the_first_reason_that_holds(void **state)
{
	(void)state;
	try_thin("");
	facts->recorded_secs = 0.99;
	try_thin("it is only 0.99 s long");
	facts->recorded_secs = 1;
	try_thin("");
	facts->samples = 1;
	try_thin("it has one sample only");
	record("", NULL);
	try_thin("it has no end: it still runs, or its tracker was killed");
	facts->layout = "csv";
	try_thin("");
	record("\"executable\":\"/usr/bin/docker\"", "\"exit_code\":0");
	facts->user_secs = sum_of(0.1);
	facts->cores = (struct figure){.most = 0.01, .weighted = 0.1, .weights = 100};
	look_again();
	assert_non_null(strstr(run.thin, "docker had its work done by other processes. Record: "));
	facts->cores.most = facts->memory.most = NAN;
	try_thin("no figure of its processes could be read");
	facts->memory.most = 1;
	look_again();
	assert_non_null(strstr(run.thin, "docker had"));
	facts->memory.most = NAN;
	facts->cores.most = 1;
	look_again();
	assert_non_null(strstr(run.thin, "docker had"));
	facts->tracked = false;
	try_thin("no process was tracked");
	record("", "\"reason\":\"exec_failed\"");
	facts->tracked = false;
	try_thin("the command could not be started");
	/* Even a very short run proves that its memory was not enough. */
	kill_with(OOM_CONFIRMED, 400);
	facts->recorded_secs = 0.1;
	look_again();
	assert_string_equal(run.thin, "");
	end_row()->oom_kill_limit_mib = NAN;
	facts->memory.most = NAN;
	look_again();
	assert_string_equal(run.thin, "it is only 0.10 s long");
}

static void ends_tell_whether_the_time_is_that_of_the_whole_job(void **state)
{
	static const struct {
		const char *end;
		bool is_whole, failed;
	} ENDS[] = {
		{"\"exit_code\":0", true, false},
		{"\"exit_code\":1", false, true},
		{"\"exit_code\":0,\"signal\":9", false, false},
		{"\"reason\":\"target_exited\"", true, false},
		{"\"reason\":\"target_exited\",\"exit_code\":3", false, true},
		{"\"reason\":\"duration\"", false, false},
		{"\"wall_secs\":3", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
		record("", ENDS[i].end);
		if (found->is_whole != ENDS[i].is_whole || found->failed != ENDS[i].failed)
			fail_msg("%s: %d %d", ENDS[i].end, found->is_whole, found->failed);
	}
	record("", NULL);
	assert_false(found->is_whole || found->failed);
	facts->layout = "csv";
	look_again();
	assert_true(found->good);
	assert_false(found->is_whole || found->failed);
}

static void inputs_are_told_or_guessed(void **state)
{
	(void)state;
	assert_true(isnan(found->input_bytes));
	record("\"input_bytes\":0", "\"exit_code\":0");
	assert_near(found->input_bytes, 0);
	assert_false(found->input_is_guessed);
	record("\"input_bytes\":7,\"input_source\":\"option\"", "\"exit_code\":0");
	assert_near(found->input_bytes, 7);
	assert_false(found->input_is_guessed);
	record("\"input_bytes\":7,\"input_source\":\"arguments\"", "\"exit_code\":0");
	assert_true(found->input_is_guessed);
}

static void scheduled_by(const char *names)
{
	char start[300];

	snprintf(start, sizeof start, "\"run_id\":\"r-1\",\"scheduler\":{%s}", names);
	record(start, "\"exit_code\":0");
}

static void schedulers_tell_the_job_and_its_tasks(void **state)
{
	(void)state;
	assert_string_equal(found->job, "");
	assert_string_equal(found->run_id, "");
	assert_string_equal(found->host, "h");
	assert_int_equal(found->rank, -1);
	assert_int_equal(found->tasks, 0);
	assert_int_equal(found->nodes, 0);
	scheduled_by("\"SLURM_JOB_ID\":\"12\",\"SLURM_STEP_ID\":\"3\",\"SLURM_PROCID\":\"0\",\"SLURM_"
		     "NTASKS\":\"64\","
		     "\"SLURM_JOB_NUM_NODES\":\"4\"");
	assert_string_equal(found->job, "12.3");
	assert_string_equal(found->run_id, "r-1");
	assert_int_equal(found->tasks, 64);
	assert_int_equal(found->nodes, 4);
	assert_true(found->is_one_task);
	/* A batch script has a step beyond those of srun, or none, or no number among the tasks. */
	scheduled_by("\"SLURM_JOB_ID\":\"12\",\"SLURM_STEP_ID\":\"4294967291\",\"SLURM_PROCID\":\"0\","
		     "\"SLURM_NTASKS\":\"x\"");
	assert_false(found->is_one_task);
	assert_int_equal(found->tasks, 0);
	scheduled_by("\"SLURM_JOB_ID\":\"12\",\"SLURM_PROCID\":\"0\"");
	assert_false(found->is_one_task);
	assert_string_equal(found->job, "12.");
	scheduled_by("\"SLURM_JOB_ID\":\"12\",\"SLURM_STEP_ID\":\"0\"");
	assert_false(found->is_one_task);
	scheduled_by("\"SLURM_STEP_ID\":\"0\",\"SLURM_PROCID\":\"0\",\"SLURM_NTASKS\":\"2147483647\"");
	assert_true(found->is_one_task);
	assert_int_equal(found->tasks, 0);
	scheduled_by("\"PBS_JOBID\":\"8.host\"");
	assert_string_equal(found->job, "8.host.");
	scheduled_by("\"LSB_JOBID\":\"9\",\"FLUX_JOB_ID\":\"f\"");
	assert_string_equal(found->job, "9.");
	scheduled_by("\"FLUX_JOB_ID\":\"f\"");
	assert_string_equal(found->job, "f.");
	facts->rank = 0;
	look_again();
	assert_int_equal(found->rank, 0);
}

/* Two cores, of which one was used for 94 of 100 s: 95 % of the time needs two, and so do 99 %. */
static void cores_are_those_that_most_of_the_time_needed(void **state)
{
	(void)state;
	assert_near(found->mean_cores, 2);
	assert_near(found->max_cores, 2);
	facts->core_shape = (struct shape){0};
	shape_add(&facts->core_shape, 94, 1);
	shape_add(&facts->core_shape, 4, 2);
	shape_add(&facts->core_shape, 2, 4);
	facts->core_shape.busiest = 0;
	look_again();
	assert_true(fabs(found->p95_cores - 2) < 0.05);
	assert_true(fabs(found->busy_cores - 4) < 0.1);
	facts->core_shape.busiest = 5;
	look_again();
	assert_near(found->busy_cores, 5);
	/* A very short run. */
	facts->core_shape = (struct shape){0};
	shape_add(&facts->core_shape, 0.5, 3);
	look_again();
	assert_true(fabs(found->p95_cores - 3) < 0.1 && fabs(found->busy_cores - 3) < 0.1);
	/* Without lengths of samples, the largest one counts. */
	facts->core_shape = (struct shape){0};
	look_again();
	assert_near(found->busy_cores, 2);
	assert_near(found->p95_cores, 2);
}

/* While others kept the cores, threads that were ready count, up to the limit. */
static void cores_that_a_starved_job_wanted_count(void **state)
{
	(void)state;
	facts->core_count = 8;
	facts->user_secs = sum_of(200);
	facts->cpu_course.has_pressure = true;
	shape_add(&facts->cpu_course.wanted, 100, 5.1);
	facts->cpu_course.short_secs = 19.9;
	look_again();
	assert_near(found->busy_cores, 2);
	facts->cpu_course.short_secs = 20;
	look_again();
	assert_true(fabs(found->busy_cores - 5) < 0.1);
	facts->core_count = 4;
	look_again();
	assert_near(found->busy_cores, 4);
	/* It had nine tenths of them itself. */
	facts->user_secs = sum_of(360);
	look_again();
	assert_near(found->busy_cores, 2);
	facts->user_secs = sum_of(359);
	look_again();
	assert_near(found->busy_cores, 4);
	facts->cpu_course.has_pressure = false;
	look_again();
	assert_near(found->busy_cores, 2);
}

static void a_machine_alone_is_evidence_of_all_of_it(void **state)
{
	(void)state;
	facts->tracked = false;
	facts->host_cores = (struct figure){.weighted = 300, .weights = 100, .most = 7};
	facts->host_memory.most = 5000;
	facts->host_gpu_usage.most = 1.5;
	facts->host_gpu_vram_mib.most = 800;
	look_again();
	assert_near(found->mean_cores, 3);
	assert_near(found->max_cores, 7);
	assert_near(found->sampled_peak_mib, 5000);
	assert_near(found->max_gpus, 1.5);
	assert_near(found->vram_peak_mib, 800);
}

#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, begin, done)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_peak_is_that_of_the_tree_unless_the_end_has_a_larger_one),
		RUN_TEST(swapped_memory_counts_from_one_mib),
		RUN_TEST(memory_of_the_kernel_is_reckoned_or_charged),
		RUN_TEST(files_in_memory_count_as_far_as_the_job_wrote_them),
		RUN_TEST(a_cache_that_was_too_small_keeps_its_limit),
		RUN_TEST(a_killed_run_had_its_limit_and_needs_more),
		RUN_TEST(a_run_that_had_little_of_an_exhausted_machine_was_a_bystander),
		RUN_TEST(a_step_of_a_shared_group_was_the_jobs_if_it_held_half),
		RUN_TEST(a_recording_says_little_for_the_first_reason_that_holds),
		RUN_TEST(ends_tell_whether_the_time_is_that_of_the_whole_job),
		RUN_TEST(inputs_are_told_or_guessed),
		RUN_TEST(schedulers_tell_the_job_and_its_tasks),
		RUN_TEST(cores_are_those_that_most_of_the_time_needed),
		RUN_TEST(cores_that_a_starved_job_wanted_count),
		RUN_TEST(a_machine_alone_is_evidence_of_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
