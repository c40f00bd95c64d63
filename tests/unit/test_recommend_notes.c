/* Notes about a run beside its advice: each appears at its threshold and not below it. */
#include "made_summary.h"

#include "recommend/recommend.h"

static struct rt_advice advice;

static void begin_advice(void)
{
	begin_with("");
	advice = start_advice(&(struct rt_recommend_options){0});
	advice.usage.sampled_peak_mib = 600;
}

/* The rules of the notes about the run, and those about the advice. */
static void try_notes(void (*judge)(void), const char *expected)
{
	char found[512] = "";

	advice.note_count = 0;
	judge();
	for (size_t i = 0; i < advice.note_count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "",
			 advice.notes[i].rule);
	if (strcmp(found, expected) != 0)
		fail_msg("\"%s\" is not \"%s\"", found, expected);
}

static void judge_made_run(void)
{
	advice_judge(&advice, facts);
}

static void judge_advice(void)
{
	advice_doubt(&advice);
}

static void try_run(const char *expected)
{
	try_notes(judge_made_run, expected);
}

static void try_doubts(const char *expected)
{
	try_notes(judge_advice, expected);
}

static void try_text(size_t number, const char *expected)
{
	assert_true(number < advice.note_count);
	assert_string_equal(advice.notes[number].text, expected);
}

static void use_cores(double mean)
{
	facts->user_secs = sum_of(mean * 100);
	facts->system_secs = sum_of(0);
}

static struct figure steady(double value)
{
	return (struct figure){.weighted = value * 100, .weights = 100, .most = value};
}

static void cores_are_idle_below_half_and_busy_from_nine_tenths(void **state)
{
	(void)state;
	begin_advice();
	try_run("idle_cores");
	try_text(0, "3.0 of 4 cores (machine) were idle on average");
	use_cores(2);
	try_run("");
	use_cores(1.99);
	try_run("idle_cores");
	use_cores(3.59);
	try_run("");
	assert_null(advice.cpu_bound_by);
	use_cores(3.6);
	try_run("cpu_bound");
	assert_string_equal(advice.cpu_bound_by, "it had no more cores");
	/* Less than a whole idle core is too little to tell. */
	facts->core_count = 1;
	use_cores(0);
	try_run("idle_cores");
	use_cores(0.01);
	try_run("");
}

static void a_limit_holds_up_from_a_hundredth_of_the_time(void **state)
{
	(void)state;
	begin_advice();
	use_cores(2);
	facts->throttled_secs = sum_of(0.99);
	try_run("");
	facts->throttled_secs = sum_of(1);
	try_run("throttled");
	assert_string_equal(advice.cpu_bound_by, "its CPU limit held it back");
	try_text(0, "the CPU limit held it back for 1.00 s, summed over its CPUs, in 1 min 40 s");
	use_cores(4);
	try_run("cpu_bound throttled");
	assert_string_equal(advice.cpu_bound_by, "it had no more cores");
}

/* Half of the CPU time of all programs, while no CPU was free, was used by others. */
static void a_starved_job_is_told_by_the_programs_that_kept_its_cores(void **state)
{
	(void)state;
	begin_advice();
	use_cores(1);
	facts->cpu_course.has_pressure = true;
	facts->cpu_course.short_secs = 19.9;
	try_run("idle_cores");
	facts->cpu_course.short_secs = 20;
	facts->cpu_course.full_secs = 20;
	facts->cpu_course.full_core_secs = 80;
	facts->cpu_course.others_core_secs = 40;
	try_run("cpu_starved");
	try_text(0, "it was short of CPU for 20.0 s of 1 min 40 s: all its cores were busy, and more cores "
		    "would have helped");
	assert_string_equal(advice.cpu_bound_by, "it had no more cores when it could use them");
	facts->cpu_course.others_core_secs = 40.1;
	try_run("cpu_starved");
	try_text(0, "it was short of CPU for 20.0 s of 1 min 40 s: other programs kept the CPUs busy");
	assert_string_equal(advice.cpu_bound_by, "other programs had the other cores");
	/* Ranks of the same job do not count as other programs. */
	advice.siblings.cores = 0.01;
	try_run("cpu_starved");
	assert_string_equal(advice.cpu_bound_by, "it had no more cores when it could use them");
	advice.ranks.tasks = 2;
	try_run("cpu_starved");
	assert_string_equal(advice.cpu_bound_by, "no other core was free");
	try_text(0, "it was short of CPU for 20.0 s of 1 min 40 s: no CPU was free");
	advice.ranks.recorded = 2;
	try_run("cpu_starved");
	assert_string_equal(advice.cpu_bound_by, "it had no more cores when it could use them");
	/* With all its cores in use, it had no more of them. */
	use_cores(3.6);
	try_run("cpu_bound");
}

static void limit_memory(double mib)
{
	use_cores(2);
	facts->allowances.list[0].memory_limit_mib = mib;
}

static void memory_is_near_its_limit_from_nine_tenths(void **state)
{
	(void)state;
	begin_advice();
	limit_memory(600 / 0.9 + 0.01);
	try_run("");
	limit_memory(600 / 0.9 - 0.01);
	try_run("memory_near_limit");
	try_text(0, "its peak was 90 % of the limit of 667 MiB");
	facts->memory = (struct figure){.weighted = 94.9 * 6 * 100, .weights = 100, .most = 600};
	try_run("memory_near_limit");
	facts->memory.weighted = 95 * 6 * 100 + 0.001;
	try_run("memory_near_limit memory_flat");
	/* A kill says more. */
	advice.usage.oom = OOM_CONFIRMED;
	advice.usage.oom_had_mib = 640;
	advice.usage.oom_floor_mib = 1536;
	advice.memory_mib = 1600;
	try_run("oom");
	try_text(0, "it was killed for lack of memory with 640 MiB; later runs show how much is enough");
	advice.memory_at_least = true;
	try_run("oom");
	try_text(0, "it was killed for lack of memory. It needs at least 640 MiB; the advice grows until a "
		    "run ends well, and 1.56 GiB may "
		    "still be too little");
}

/* Memory with swap may be more than the limit, which counts neither swap nor pages of files that other groups are charged for. */
static void memory_beyond_its_limit_counts_as_far_as_the_limit_counts_it(void **state)
{
	(void)state;
	begin_advice();
	limit_memory(500);
	facts->memory = steady(400);
	try_run("");
	facts->memory = steady(450);
	try_run("memory_near_limit memory_flat");
	try_text(0, "its peak was 90 % of the limit of 500 MiB");
}

static void memory_is_unused_below_half_of_the_limit(void **state)
{
	(void)state;
	begin_advice();
	limit_memory(2000);
	advice.memory_mib = 1000;
	try_run("");
	advice.memory_mib = 999;
	try_run("memory_unused");
	try_text(0, "2000 MiB were reserved, of which 600 MiB were used");
	advice.memory_mib = 0;
	try_run("");
	advice.memory_mib = -1;
	try_run("");
}

static void swap_counts_from_one_mib(void **state)
{
	(void)state;
	begin_advice();
	use_cores(2);
	facts->swap.most = 0.99;
	try_run("");
	facts->swap.most = 1;
	try_run("swapped");
	try_text(0, "1 MiB of its memory were swapped out: the advice includes them");
}

static void files_that_are_read_again_ask_for_more_memory(void **state)
{
	(void)state;
	begin_advice();
	limit_memory(1000);
	facts->read_bytes = sum_of(2048.0 * 1048576);
	facts->cache_refault_bytes = sum_of(1024.0 * 1048576);
	facts->io_pressure_secs = sum_of(50);
	snprintf(facts->pressure_source, sizeof facts->pressure_source, "cgroup");
	try_run("cache_too_small");
	try_text(0, "it read 1.00 GiB again, because its page cache had no room for them: the advice does "
		    "not include the page cache, and "
		    "more memory would make it faster");
	advice.usage.cache_limit_mib = 1000;
	try_run("cache_too_small");
	try_text(0, "it read 1.00 GiB again, because its page cache had no room for them: the advice keeps "
		    "the limit that it had, and more "
		    "memory would make it faster");
	facts->cache_refault_bytes = sum_of(0);
	try_run("io_bound");
}

static void waiting_for_disks_is_told_from_a_tenth_of_the_time(void **state)
{
	(void)state;
	begin_advice();
	use_cores(2);
	snprintf(facts->pressure_source, sizeof facts->pressure_source, "cgroup");
	facts->io_pressure_secs = sum_of(9.9);
	try_run("");
	facts->io_pressure_secs = sum_of(10);
	try_run("io_bound");
	try_text(0, "it waited for I/O for 10.0 s of 1 min 40 s");
	/* The machine's waiting may be that of others. */
	snprintf(facts->pressure_source, sizeof facts->pressure_source, "host");
	try_run("");
}

static void use_gpus(double mean, double most, double vram_mib)
{
	use_cores(2);
	facts->gpu_count = 2;
	facts->gpu_memory_mib = 2000;
	facts->gpu_usage = (struct figure){.weighted = mean * 100, .weights = 100, .most = most};
	facts->gpu_vram_mib = steady(vram_mib);
	advice.gpu = 1;
}

static void gpus_are_idle_underused_and_full_at_their_shares(void **state)
{
	(void)state;
	begin_advice();
	use_gpus(0, 0, 0);
	try_run("idle_gpu");
	try_text(0, "it used none of the 2 GPUs");
	use_gpus(0, 0, 1);
	try_run("gpu_underused");
	try_text(0, "its GPUs were busy for 0 % of the time");
	use_gpus(0, 0.1, 0);
	try_run("gpu_underused");
	use_gpus(0.19, 1, 0);
	try_run("gpu_underused");
	try_text(0, "its GPUs were busy for 19 % of the time");
	use_gpus(0.2, 1, 0);
	try_run("");
	use_gpus(0.39, 1, 0);
	advice.gpu = 2;
	try_run("gpu_underused");
	try_text(0, "its GPUs were busy for 20 % of the time");
	advice.gpu = 0;
	try_run("");
	/* One of two GPUs has half of the memory. */
	use_gpus(1, 1, 899);
	try_run("");
	use_gpus(1, 1, 900);
	try_run("gpu_memory_full");
	advice.gpu = 2;
	try_run("");
	advice.gpu = 0;
	try_run("");
	use_gpus(1, 1, 900);
	facts->gpu_memory_mib = 0;
	try_run("");
	facts->gpu_count = 0;
	try_run("");
}

static void use_machine(double cores, double memory_mib, double gpus, double vram_mib)
{
	facts->cores = steady(2);
	facts->memory = steady(100);
	facts->gpu_usage = steady(1);
	facts->gpu_vram_mib = steady(1000);
	facts->host_cores = steady(2 + cores);
	facts->host_memory = steady(100 + memory_mib);
	facts->host_gpu_usage = steady(1 + gpus);
	facts->host_gpu_vram_mib = steady(1000 + vram_mib);
	advice.allocation = "unknown";
}

static void try_allocation(const char *expected, const char *rules)
{
	try_run(rules);
	assert_string_equal(advice.allocation, expected);
}

/* An idle system uses a quarter of a core or a tenth of all, and 512 MiB or a quarter of the memory. */
static void a_machine_is_shared_beyond_the_use_of_an_idle_system(void **state)
{
	(void)state;
	begin_advice();
	use_cores(2);
	facts->core_count = 2;
	facts->allowances.list[0].cpus = 4;
	facts->total_memory_mib = 2048;
	use_machine(0.25, 512, 0, 512);
	try_allocation("dedicated", "");
	use_machine(0.2501, 512, 0, 512);
	try_allocation("shared", "host_shared");
	try_text(0, "2.00 of the 2.25 cores in use were this job's; other programs used the rest");
	use_machine(0.25, 512.1, 0, 512);
	try_allocation("shared", "host_shared");
	try_text(0, "100 of the 612 MiB of memory in use were this job's; other programs used the rest");
	use_machine(0, 0, 0.19, 0);
	try_allocation("dedicated", "");
	use_machine(0, 0, 0.21, 0);
	try_allocation("shared", "host_shared");
	try_text(0, "1.00 of the 1.21 GPUs in use were this job's; other programs used the rest");
	use_machine(0, 0, 0, 512.1);
	try_allocation("shared", "host_shared");
	try_text(0,
		 "1000 of the 1512 MiB of GPU memory in use were this job's; other programs used the rest");
	/* A large machine uses more by itself. */
	facts->core_count = 40;
	facts->total_memory_mib = 4096;
	use_machine(4, 1024, 0, 0);
	facts->allowances.list[0].cpus = 4;
	try_allocation("dedicated", "");
	use_machine(4.01, 0, 0, 0);
	try_allocation("shared", "host_shared");
	use_machine(0, 1024.1, 0, 0);
	try_allocation("shared", "host_shared");
	/* Ranks of the same job on the host do not count as other programs. */
	use_machine(5, 2000, 1, 1000);
	advice.siblings = (struct part_of_machine){5, 2000, 1, 1000};
	try_allocation("dedicated", "");
	advice.siblings.gpus = 0;
	try_allocation("shared", "host_shared");
	advice.siblings = (struct part_of_machine){5, 2000, 1, 0};
	try_allocation("shared", "host_shared");
	/* Where a part of the ranks has no recording, the others' part is unknown. */
	advice.ranks.tasks = 2;
	use_machine(5, 0, 0, 0);
	try_allocation("unknown", "");
	advice.ranks.tasks = 1;
	facts->host_cores.weights = 0;
	try_allocation("unknown", "");
	use_machine(5, 0, 0, 0);
	facts->cores.weights = 0;
	try_allocation("unknown", "");
}

static void end_with(const char *of_end)
{
	make_run("", of_end);
	facts->cores.most = 2;
	advice = start_advice(&(struct rt_recommend_options){0});
	use_cores(2);
}

static void the_end_of_a_run_is_told_if_it_may_need_more(void **state)
{
	(void)state;
	end_with("\"exit_code\":0");
	try_run("");
	end_with("\"exit_code\":3");
	try_run("failed");
	try_text(0, "it ended with exit status 3: it may not have finished its work");
	end_with("\"signal\":9");
	try_run("failed");
	try_text(0, "it was killed by SIGKILL: it may not have finished its work");
	end_with("\"signal\":24,\"process_limit\":\"10 s of CPU time\"");
	try_run("failed");
	try_text(0, "it was killed by SIGXCPU, limited to 10 s of CPU time: raise this limit if it is the "
		    "reason");
	/* A kill for lack of memory has its own note. */
	advice.usage.oom_floor_mib = 100;
	try_run("oom process_limit");
	try_text(1, "it was limited to 10 s of CPU time: raise this limit");
	end_with("\"exit_code\":0,\"process_limit\":\"1024 open files\"");
	try_run("process_limit");
	end_with("\"reason\":\"duration\"");
	try_run("cut_short");
	end_with("\"reason\":\"tracker_stopped\"");
	try_run("cut_short");
	facts->tracked = false;
	facts->host_cores = steady(2);
	try_run("");
	end_with("\"reason\":\"exit\"");
	try_run("");
	end_with(NULL);
	try_run("");
}

static void the_doubts_of_advice_are_told(void **state)
{
	(void)state;
	begin_advice();
	advice.runs = 2;
	try_doubts("");
	advice.ranks.tasks = 3;
	advice.ranks.recorded = 2;
	try_doubts("ranks_missing");
	try_text(0, "2 of 3 tasks were recorded: the advice assumes that the others need as much");
	advice.ranks.recorded = 3;
	try_doubts("");
	advice.sizing.base = 2048;
	advice.sizing.drift = DRIFT_UP;
	try_doubts("drift");
	try_text(0, "the peaks rise from run to run: the advice expects a next peak of 2.00 GiB");
	advice.sizing.drift = DRIFT_DOWN;
	advice.sizing.runs = 12;
	try_doubts("drift");
	try_text(0, "the newest 12 runs all needed less than those before: only they count");
	advice.sizing.drift = DRIFT_NONE;
	advice.sizing.is_beyond = true;
	try_doubts("input_beyond");
	try_text(0, "this input is larger than that of any earlier run: it may take more than they did");
	advice.sizing.shape = SHAPE_LINE;
	try_doubts("input_beyond");
	advice.sizing.is_beyond = false;
	advice.policy = RT_POLICY_COST;
	advice.runs = 8;
	advice.runs_left_out = 2;
	try_doubts("");
	advice.runs_left_out = 3;
	try_doubts("few_runs");
	try_text(0, "5 runs are too few to know how often a run would be killed: with fewer than 6, --policy "
		    "cost guesses");
	advice.runs_left_out = 7;
	try_doubts("few_runs");
	try_text(0, "1 run is too few to know how often a run would be killed: with fewer than 6, --policy "
		    "cost guesses");
	advice.memory_mib = 0;
	try_doubts("few_runs one_run");
	advice.runs_left_out = 2;
	advice.backtest = (struct backtest){.runs = 1, .killed = 1};
	try_doubts("risk");
	advice.policy = RT_POLICY_MAX;
	try_doubts("");
	advice.sizing.kill_had = 0;
	try_doubts("");
	advice.sizing.kill_had = 512;
	try_doubts("unsettled_kill");
	advice.sizing.is_retry = true;
	advice.attempt = 2;
	try_doubts("attempt");
}

static void notes_beyond_the_last_place_are_left_out(void **state)
{
	(void)state;
	begin_advice();
	for (int i = 0; i < NOTES_MOST + 3; i++)
		advice_note(&advice, "rule", "number %d", i);
	assert_int_equal(advice.note_count, NOTES_MOST);
	try_text(NOTES_MOST - 1, "number 31");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(cores_are_idle_below_half_and_busy_from_nine_tenths),
		PAGE_TEST(a_limit_holds_up_from_a_hundredth_of_the_time),
		PAGE_TEST(a_starved_job_is_told_by_the_programs_that_kept_its_cores),
		PAGE_TEST(memory_is_near_its_limit_from_nine_tenths),
		PAGE_TEST(memory_beyond_its_limit_counts_as_far_as_the_limit_counts_it),
		PAGE_TEST(memory_is_unused_below_half_of_the_limit),
		PAGE_TEST(swap_counts_from_one_mib),
		PAGE_TEST(files_that_are_read_again_ask_for_more_memory),
		PAGE_TEST(waiting_for_disks_is_told_from_a_tenth_of_the_time),
		PAGE_TEST(gpus_are_idle_underused_and_full_at_their_shares),
		PAGE_TEST(a_machine_is_shared_beyond_the_use_of_an_idle_system),
		PAGE_TEST(the_end_of_a_run_is_told_if_it_may_need_more),
		PAGE_TEST(the_doubts_of_advice_are_told),
		PAGE_TEST(notes_beyond_the_last_place_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
