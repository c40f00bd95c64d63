/* The memory that is advised for a past that is made by hand, and the lines for engines, at their limits. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommend/recommend.h"

enum { RUNS_MOST = 64 };

static struct evidence list[RUNS_MOST];
static struct past past;
static struct rt_advice advice;
static struct rt_recommend_options options;

static int begin(void **state)
{
	(void)state;
	past = (struct past){list, 0};
	options = (struct rt_recommend_options){0};
	return 0;
}

static struct evidence *add(double peak_mib)
{
	struct evidence *one = &list[past.count];

	*one = UNKNOWN_EVIDENCE;
	one->started = 1000 + 100 * (double)past.count++;
	one->secs = 60;
	one->sampled_peak_mib = peak_mib;
	one->good = true;
	return one;
}

static struct evidence *add_kill(double had_mib)
{
	struct evidence *one = add(had_mib);

	one->good = false;
	one->oom = OOM_CONFIRMED;
	one->oom_had_mib = had_mib;
	one->oom_floor_mib = 2.4 * had_mib;
	return one;
}

static int64_t advised(void)
{
	struct sized_run runs[RUNS_MOST];
	struct sized_kill kills[RUNS_MOST];

	advice = start_advice(&options);
	decide_memory(&advice, &past, runs, kills);
	return advice.memory_mib;
}

static int64_t advised_by(enum rt_policy policy)
{
	options.policy = policy;
	return advised();
}

/* A kill counts until a later run that took seven tenths of it. */
static void a_kill_is_settled_by_a_later_run_of_about_its_size(void **state)
{
	(void)state;
	add(500);
	add_kill(1000);
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	assert_true(advice.memory_at_least);
	add(699.9);
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	past.count--;
	add(700);
	assert_true(advised_by(RT_POLICY_P95) < 1200);
	assert_false(advice.memory_at_least);
	/* It must have come later. */
	list[2].started = list[1].started;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[2].started = list[1].started + 1;
	list[2].good = false;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
}

/* Only the policy that never says less than a peak may rest on an earlier run that took as much. */
static void an_earlier_run_settles_a_kill_for_the_safe_policy(void **state)
{
	(void)state;
	add(1000);
	add_kill(1000);
	assert_int_equal(advised_by(RT_POLICY_MAX), 1200);
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[0].sampled_peak_mib = 999;
	assert_int_equal(advised_by(RT_POLICY_MAX), 1504);
	/* The settled kill of an unknown input asks for a tenth more. */
	list[0].sampled_peak_mib = 1000;
	list[1].oom_had_mib = 999;
	for (int i = 0; i < 30; i++)
		add(1000);
	assert_int_equal(advised_by(RT_POLICY_MAX), 1104);
	list[1].input_bytes = 5;
	assert_true(advised_by(RT_POLICY_MAX) < 1100);
}

static void inputs_of_both_decide_whether_a_kill_is_settled(void **state)
{
	(void)state;
	add(100)->input_bytes = 1000;
	add_kill(1000)->input_bytes = 1000;
	add(200)->input_bytes = 979;
	options.input_bytes = 1000;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[2].input_bytes = 981;
	assert_true(advised_by(RT_POLICY_P95) < 1000);
	/* One of them is unknown: the size of the memory decides. */
	list[2].input_bytes = NAN;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[2].sampled_peak_mib = 700;
	assert_true(advised_by(RT_POLICY_P95) < 1504);
	list[2].input_bytes = 5000;
	list[2].sampled_peak_mib = 100;
	list[1].input_bytes = NAN;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	/* An empty input is known. */
	list[1].input_bytes = 1000;
	list[2].input_bytes = 0;
	for (int i = 0; i < 12; i++)
		add(100)->input_bytes = 0;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[1].input_bytes = list[2].input_bytes = 0;
	list[0].input_bytes = 0;
	past.count = 3;
	options.input_bytes = 0;
	assert_true(advised_by(RT_POLICY_P95) < 1000);
}

static void ten_later_runs_forget_a_kill(void **state)
{
	(void)state;
	add_kill(1000);
	for (int i = 0; i < 9; i++)
		add(100);
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	add(100);
	assert_true(advised_by(RT_POLICY_P95) < 200);
	list[10].good = false;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	list[10].good = true;
	list[10].started = list[0].started;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
	/* Where the inputs are known, runs of smaller ones say nothing. */
	list[10].started = 9999;
	for (int i = 0; i < 11; i++)
		list[i].input_bytes = i ? 10 : 1000;
	assert_int_equal(advised_by(RT_POLICY_P95), 1504);
}

static void a_kill_alone_asks_for_its_own_estimate(void **state)
{
	(void)state;
	add_kill(1000);
	assert_int_equal(advised(), 2400);
	assert_true(advice.memory_at_least);
	assert_string_equal(advice.memory_basis, "what was not enough when it ran out of memory");
	assert_int_equal(advice.memory_again_mib, -1);
	options.attempt = 2;
	assert_int_equal(advised(), 2400);
	list[0].oom_floor_mib = 1100;
	assert_int_equal(advised(), 1504);
	assert_string_equal(advice.memory_basis, "half as much again as the attempt before had");
}

/* A site asks for whole steps, and no less than its least. */
static void memory_is_rounded_to_the_steps_of_the_site(void **state)
{
	(void)state;
	add(0.1);
	assert_int_equal(advised(), 32);
	assert_string_equal(advice.memory_basis, "the least that is advised");
	options.memory_least_mib = 0.5;
	options.memory_step_mib = 0.5;
	assert_int_equal(advised(), 1);
	assert_true(advice.least_mib == 0.5 && advice.step_mib == 0.5);
	options.memory_least_mib = 100;
	assert_int_equal(advised(), 100);
	assert_string_equal(advice.memory_basis, "the least that is advised");
	options.memory_step_mib = 64;
	assert_int_equal(advised(), 128);
	list[0].sampled_peak_mib = 107;
	assert_int_equal(advised(), 192);
	assert_string_equal(advice.memory_basis, "the peak of the process tree");
	/* The second attempt has half more than the rounded first one. */
	options.attempt = 2;
	assert_int_equal(advised(), 320);
	assert_int_equal(round_for_site(&advice, 1e300), (int64_t)(ceil(1e15 / 64) * 64));
}

static void the_basis_tells_where_the_peak_is_from(void **state)
{
	(void)state;
	add(100)->process_peak_mib = 100;
	(void)advised();
	assert_string_equal(advice.memory_basis, "the peak of the process tree");
	list[0].process_peak_mib = 101;
	(void)advised();
	assert_string_equal(advice.memory_basis, "the kernel's peak of the largest process");
	list[0].sampled_peak_mib = NAN;
	list[0].process_peak_mib = 50;
	(void)advised();
	assert_string_equal(advice.memory_basis, "the kernel's peak of the largest process");
	list[0].sampled_peak_mib = 100;
	list[0].between_peak_mib = 102;
	(void)advised();
	assert_string_equal(advice.memory_basis, "the peak of the process tree");
	list[0].between_peak_mib = 103;
	(void)advised();
	assert_string_equal(advice.memory_basis,
			    "what its processes may have held together between two samples");
}

/* Kernel memory counts with at most a tenth more, for the safe policy alone. */
static void memory_of_the_kernel_is_added(void **state)
{
	(void)state;
	add(1000)->kernel_mib = 90;
	assert_int_equal(advised(), 1200);
	assert_false(advice.memory_by_kernel);
	list[0].kernel_mib = 100;
	assert_int_equal(advised(), 1216);
	assert_true(advice.memory_by_kernel);
	assert_int_equal(advised_by(RT_POLICY_P95), 1200);
	list[0].cache_limit_mib = 3000;
	assert_int_equal(advised_by(RT_POLICY_P95), 3008);
}

/* Needs of 100 MiB and a MiB for each MiB of input, of 100 to 900 MiB. */
static void add_line(void)
{
	for (int i = 0; i < 9; i++)
		add(200 + 100 * i)->input_bytes = (100 + 100 * i) * 1048576.0;
}

static const char *basis_for(double mib)
{
	options.input_bytes = mib * 1048576;
	(void)advised();
	return advice.memory_basis;
}

static void a_line_is_held_at_four_times_the_largest_need(void **state)
{
	(void)state;
	add_line();
	assert_string_equal(basis_for(500), "100 MiB and 1.00 bytes for each byte of input");
	/* 4000 MiB, and a line that is 1.9 % and 2.1 % above. */
	assert_string_equal(basis_for(3976), "100 MiB and 1.00 bytes for each byte of input");
	assert_string_equal(basis_for(3984), "four times the largest need, as far as a line is trusted");
	assert_true(advice.sizing.is_beyond);
	for (int i = 0; i < 9; i++)
		list[i].sampled_peak_mib -= 190;
	assert_string_equal(basis_for(500), "90.0 MiB below 1.00 bytes for each byte of input");
}

static void advice_begins_with_nothing_known(void **state)
{
	const struct usage *usage = &advice.usage;

	(void)state;
	advice = start_advice(&options);
	assert_true(isnan(usage->mean_cores) && isnan(usage->p95_cores) && isnan(usage->sampled_peak_mib));
	assert_true(isnan(usage->max_gpus) && isnan(usage->gpu_joules) && isnan(usage->duration_secs));
	assert_true(usage->oom_had_mib == 0 && usage->oom_floor_mib == 0 && usage->oom == OOM_NONE &&
		    !usage->swapped);
	assert_true(usage->kernel_mib == 0 && usage->cache_limit_mib == 0);
	assert_true(advice.ranks.tasks == 1 && advice.ranks.hosts == 1 && advice.ranks.task_cpus == -1);
	assert_true(advice.cpu == -1 && advice.cpu_limit == -1 && advice.gpu == -1 && advice.vram_mib == -1);
	assert_true(advice.memory_mib == -1 && advice.memory_again_mib == -1 && advice.time_secs == -1);
	assert_true(isnan(advice.input_bytes) && advice.attempt == 1 && isnan(advice.usd_per_hour));
	assert_true(advice.least_mib == 32 && advice.step_mib == 16);
}

static void told_inputs_count_instead_of_guesses(void **state)
{
	(void)state;
	add(1)->input_bytes = 5;
	list[0].input_is_guessed = true;
	add(1);
	assert_false(keep_told_inputs(&past));
	assert_true(list[0].input_bytes == 5);
	add(1)->input_bytes = 0;
	assert_true(keep_told_inputs(&past));
	assert_true(isnan(list[0].input_bytes) && list[2].input_bytes == 0);
}

/* Points and kills of the plot, and its line up to a quarter beyond the largest input. */
static void a_plot_has_the_runs_with_an_input(void **state)
{
	struct sized_run runs[RUNS_MOST];
	struct sized_kill kills[RUNS_MOST];
	struct size_plot *plot;

	(void)state;
	advice = start_advice(&options);
	add(100)->input_bytes = 0;
	add(200)->input_bytes = 1000;
	assert_int_equal(make_size_plot(&advice, &past, 0, runs, kills), 0);
	assert_null(advice.plot);
	add(300);
	add(0)->input_bytes = 700;
	add(400)->input_bytes = 2000;
	list[4].good = false;
	add_kill(250)->input_bytes = 500;
	add_kill(0.5)->input_bytes = 600;
	assert_int_equal(make_size_plot(&advice, &past, 0, runs, kills), 0);
	assert_null(advice.plot);
	list[4].good = true;
	assert_int_equal(make_size_plot(&advice, &past, list[1].started, runs, kills), 0);
	plot = advice.plot;
	assert_non_null(plot);
	assert_int_equal(plot->run_count, 3);
	assert_true(plot->runs[0].input_bytes == 2000 && plot->runs[0].mib == 400 &&
		    plot->runs[2].input_bytes == 0);
	assert_int_equal(plot->kill_count, 2);
	assert_true(plot->kills[0].mib == 0.5);
	assert_true(plot->kills[1].input_bytes == 500 && plot->kills[1].mib == 250);
	assert_true(plot->newest.input_bytes == 1000 && plot->newest.mib == 200);
	assert_true(plot->line[0].input_bytes == 0 && plot->line[PLOT_LINE - 1].input_bytes == 2500);
	/* With a least size above 0, each step is a factor. */
	assert_true(plot->line[30].input_bytes == 1250);
	free(plot);
	list[0].input_bytes = 1;
	assert_int_equal(make_size_plot(&advice, &past, 0, runs, kills), 0);
	plot = advice.plot;
	assert_true(fabs(plot->line[30].input_bytes - 50) < 1e-9);
	assert_true(isnan(plot->newest.mib));
	free(plot);
	advice.plot = NULL;
	/* Sizes that differ by less than 2 % and a byte are one. */
	list[0].input_bytes = 1979;
	list[1].input_bytes = 1990;
	assert_int_equal(make_size_plot(&advice, &past, 0, runs, kills), 0);
	assert_null(advice.plot);
}

/* ---- forms ------------------------------------------------------------------------------------------- */

static void form_has(const char *form, const char *expected, bool has)
{
	struct rt_problem problem = {""};
	char *text = NULL;

	assert_int_equal(rt_advice_to_form(&advice, form, &text, &problem), 0);
	if (!strstr(text, expected) == has)
		fail_msg("\"%s\" %s in:\n%s", expected, has ? "is not" : "is", text);
	free(text);
}

static void begin_form(void)
{
	advice = start_advice(&options);
	advice.cpu = advice.cpu_limit = 4;
	advice.cpu_stretch = 1;
	advice.memory_mib = 1000;
	advice.runs = 2;
	advice.memory_again_mib = 1000;
	advice.sizing.usual = 500;
}

static void retries_and_bounds_need_two_runs_and_no_less_memory(void **state)
{
	static const char RETRY[] = "# after OUT_OF_MEMORY or TIMEOUT: sbatch --mem=1000M SCRIPT\n",
			  BOUNDS[] = "resourcePolicy";

	(void)state;
	begin_form();
	form_has("slurm", RETRY, true);
	form_has("kubernetes", BOUNDS, true);
	advice.memory_again_mib = 999;
	form_has("slurm", "after", false);
	form_has("kubernetes", BOUNDS, false);
	begin_form();
	advice.runs = 1;
	form_has("slurm", "after", false);
	form_has("kubernetes", BOUNDS, false);
	begin_form();
	advice.sizing.usual = 0;
	form_has("slurm", RETRY, true);
	form_has("kubernetes", BOUNDS, false);
	begin_form();
	advice.time_secs = 3660;
	form_has("slurm", "#SBATCH --time=1:01:00\n", true);
	form_has("slurm", "sbatch --mem=1000M --time=2:02:00 SCRIPT\n", true);
	form_has("kubernetes", "activeDeadlineSeconds: 3660\n", true);
	form_has("nextflow", "time '61 min'\n", true);
	form_has("snakemake", "runtime=61", true);
	advice.time_secs = 0;
	form_has("slurm", "#SBATCH --time=0:00:00\n", true);
	form_has("slurm", "--time=0:00:00 SCRIPT\n", true);
	form_has("kubernetes", "activeDeadlineSeconds: 0\n", true);
	form_has("nextflow", "time '0 min'\n", true);
	form_has("snakemake", "runtime=0", true);
	advice.memory_formula.has_sizes = true;
	form_has("nextflow", "time {", true);
	form_has("snakemake", "runtime=", true);
	advice.memory_formula.has_sizes = false;
	advice.ranks.tasks = 2;
	advice.ranks.task_cpus = 2;
	form_has("slurm", "# after OUT_OF_MEMORY or TIMEOUT: recommend --attempt 2\n", true);
	form_has("slurm", "#SBATCH --ntasks=2\n", true);
}

static void fewer_cores_are_told_if_they_cost_half_a_percent(void **state)
{
	(void)state;
	begin_form();
	advice.cpu = 2;
	advice.cpu_stretch = 1.0049;
	form_has("docker", "faster", false);
	advice.cpu_stretch = 1.005;
	form_has("docker", "# it was faster with 4 cores: it takes", true);
	advice.cpu = 4;
	form_has("docker", "faster", false);
}

static void text_has(const char *expected, bool has)
{
	char *text;

	assert_int_equal(rt_advice_to_text(&advice, &text), 0);
	if (!strstr(text, expected) == has)
		fail_msg("\"%s\" %s in:\n%s", expected, has ? "is not" : "is", text);
	free(text);
}

/* The mean, rounded up but for 2 %, is the fewest that is tried, and one less than is advised the most. */
static void the_time_with_fewer_cores_is_told(void **state)
{
	(void)state;
	begin_form();
	text_has("with ", false);
	shape_add(&advice.shape, 50, 4);
	shape_add(&advice.shape, 50, 2);
	advice.usage.mean_cores = 2.02;
	text_has("with 2 it would take 50 % longer\n", true);
	advice.usage.mean_cores = 2.03;
	text_has("with 3 it would take 1", true);
	advice.usage.mean_cores = 0.5;
	text_has("with 1 it would take 3.0 times as long\n", true);
	advice.usage.mean_cores = 3.9;
	text_has("with 3 it would take 1", true);
	advice.cpu_bound_by = "it had no more cores";
	text_has("with 3 it would take at least 1", true);
	text_has(": it had no more cores\n", true);
	advice.cpu = 1;
	text_has("would take", false);
	/* Fewer than the limit. */
	advice.cpu = 3;
	advice.cpu_stretch = 1.005;
	text_has("it takes 0 % longer than with 4", true);
	advice.cpu_stretch = 1.0049;
	text_has("longer than with 4", false);
	advice.cpu_stretch = 2;
	text_has("it takes 2.0 times as long as with 4", true);
}

static void gpus_are_told_if_they_are_known(void **state)
{
	(void)state;
	begin_form();
	text_has("GPU", false);
	advice.gpu = 0;
	text_has("  GPU      0           no GPU was used\n", true);
	advice.gpu = -1;
	advice.vram_mib = 0;
	text_has("  GPU      0           no GPU was used\n", true);
	advice.gpu = 1;
	advice.usage.max_gpus = 0.9;
	text_has("  GPU      1           busy at most 0.90\n", true);
	advice.usage.mean_gpus = 0.5;
	advice.usage.gpu_joules = 1234;
	advice.vram_mib = 128;
	advice.usage.vram_peak_mib = 100;
	text_has("  GPU      1           busy 0.50 on average, at most 0.90; 128 MiB of its memory (peak 100 "
		 "MiB); 1234 J\n",
		 true);
}

static void kubernetes_has_whole_cores_or_thousandths(void **state)
{
	(void)state;
	begin_form();
	form_has("kubernetes", "requests:\n    cpu: \"4\"\n", true);
	advice.cpu_request = 1.5;
	form_has("kubernetes", "requests:\n    cpu: \"1500m\"\n", true);
	form_has("kubernetes", "minAllowed: {cpu: \"1500m\", memory: 512Mi}", true);
	form_has("kubernetes", "maxAllowed: {cpu: \"4\", memory: 1000Mi}", true);
	advice.cpu_limit = 7;
	form_has("kubernetes", "maxAllowed: {cpu: \"7\"", true);
	advice.cpu_limit = 3;
	form_has("kubernetes", "maxAllowed: {cpu: \"4\"", true);
	advice.gpu = 0;
	form_has("kubernetes", "gpu", false);
	advice.gpu = 1;
	form_has("kubernetes", "nvidia.com/gpu: 1\n", true);
}

static void expressions_are_lines_within_bounds(void **state)
{
	(void)state;
	begin_form();
	advice.memory_formula = (struct sizing_formula){.has_sizes = true,
							.fixed = 100,
							.per_byte = 2.0 / 1048576,
							.least = 64,
							.most = 4000,
							.second = 600};
	form_has("nextflow",
		 "memory { 1.MB * (Math.max(400d * (task.attempt > 1 ? 1 : 0), Math.min(4000d, Math.max(64d, "
		 "100.0d + 2.0d * ",
		 true);
	form_has("nextflow", "* 1.5 ** (task.attempt - 1)) }", true);
	form_has("nextflow", "// `reads` stands for", true);
	form_has("nextflow", "// memory follows the size of the input, by earlier runs;", true);
	form_has("nextflow", "nearest", false);
	advice.memory_formula.nearest_saves = 0.00999;
	form_has("nextflow", "nearest", false);
	advice.memory_formula.nearest_saves = 0.01;
	form_has("nextflow", "would reserve 1 % less", true);
	advice.memory_formula.fixed = -100;
	advice.memory_formula.per_byte = -2.0 / 1048576;
	form_has("nextflow", "Math.max(64d, -100.0d - 2.0d * ", true);
	form_has("snakemake", "max(68, -104.858 - 2.097152 * input.size_mb", true);
	form_has("snakemake", " + 1", true);
	/* Without a line, the same for every size; and no second attempt that is more. */
	advice.memory_formula.per_byte = 0;
	advice.memory_formula.fixed = 400;
	form_has("nextflow", "memory { 1.MB * (400d * 1.5 ** (task.attempt - 1)) }", true);
	form_has("nextflow", "reads", false);
	form_has("nextflow", "// memory is the same for every size of the input, by earlier runs;", true);
	advice.memory_formula.second = 600.1;
	form_has("nextflow", "Math.max(401d * (task.attempt > 1 ? 1 : 0), 400d)", true);
	form_has("snakemake", "if attempt > 1 else 0, 420)", true);
	form_has("slurm", "# by the size of the input: recommend --input FILE\n", true);
	advice.input_bytes = 5;
	form_has("slurm", "by the size", false);
	advice.time_secs = 60;
	advice.time_formula = (struct sizing_formula){.fixed = 60, .least = 30};
	form_has("nextflow", "time { 1.min * (long) Math.ceil(1d * 2 ** (task.attempt - 1)) }", true);
	advice.time_formula.per_byte = 60.0 / 1048576;
	advice.time_formula.most = 6000;
	form_has("nextflow", "Math.ceil(Math.min(100d, Math.max(1d, 1.0d + 1.0d * ", true);
	form_has("nextflow", "// `reads` stands for", true);
}

/* Each node has its own tasks, of which the largest decides. */
static void slurm_spreads_the_memory_of_tasks(void **state)
{
	(void)state;
	begin_form();
	advice.ranks = (struct ranks){.recorded = 4,
				      .tasks = 4,
				      .hosts = 1,
				      .tasks_on_host = 4,
				      .tasks_per_recording = 1,
				      .task_cpus = 3,
				      .task_memory_mib = 200};
	advice.sizing.margin = 0.2;
	form_has("slurm",
		 "#SBATCH --nodes=1\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=3\n#SBATCH --mem=1000M\n",
		 true);
	advice.ranks.hosts = 2;
	form_has("slurm", "#SBATCH --mem-per-cpu=84M\n", true); /* 1000 / 4 / 3 */
	advice.ranks.task_memory_mib = 250;
	form_has("slurm", "#SBATCH --mem-per-cpu=100M\n", true);
	advice.ranks.tasks_per_recording = 4;
	form_has("slurm", "#SBATCH --mem-per-cpu=84M\n", true);
}

#define PAST_TEST(name) cmocka_unit_test_setup(name, begin)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAST_TEST(a_kill_is_settled_by_a_later_run_of_about_its_size),
		PAST_TEST(an_earlier_run_settles_a_kill_for_the_safe_policy),
		PAST_TEST(inputs_of_both_decide_whether_a_kill_is_settled),
		PAST_TEST(ten_later_runs_forget_a_kill),
		PAST_TEST(a_kill_alone_asks_for_its_own_estimate),
		PAST_TEST(memory_is_rounded_to_the_steps_of_the_site),
		PAST_TEST(the_basis_tells_where_the_peak_is_from),
		PAST_TEST(memory_of_the_kernel_is_added),
		PAST_TEST(a_line_is_held_at_four_times_the_largest_need),
		PAST_TEST(advice_begins_with_nothing_known),
		PAST_TEST(told_inputs_count_instead_of_guesses),
		PAST_TEST(a_plot_has_the_runs_with_an_input),
		PAST_TEST(retries_and_bounds_need_two_runs_and_no_less_memory),
		PAST_TEST(fewer_cores_are_told_if_they_cost_half_a_percent),
		PAST_TEST(the_time_with_fewer_cores_is_told),
		PAST_TEST(gpus_are_told_if_they_are_known),
		PAST_TEST(kubernetes_has_whole_cores_or_thousandths),
		PAST_TEST(expressions_are_lines_within_bounds),
		PAST_TEST(slurm_spreads_the_memory_of_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
