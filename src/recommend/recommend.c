/* Computes the advice for the next run. See recommend.h. */
#include "recommend/recommend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "table/stats.h"

static const double MARGIN = 1.2, OVER = 0.02, SUSTAINED = 1.05, SETTLING_SHARE = 0.7, CHARGED_MARGIN = 1.1;
static const double MOST = 1e15; /* statistics in a file may contain any number */
enum { RUNS_TO_FORGET_A_KILL = 10, GIB_MIB = 1024, TIMES_LEAST = 2, MINUTE = 60 };

/* ---- memory ---------------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	double one = ((const struct evidence *)a)->started, other = ((const struct evidence *)b)->started;

	/* Statistics have no start time, so they count as the oldest. */
	if (isnan(one) || isnan(other))
		return (int)isnan(other) - (int)isnan(one);
	return (one > other) - (one < other);
}

/*
 * Whether a run shows what is enough for a killed one, or a part of it. A later run of about its input or a larger one does. Where the
 * sizes of inputs are unknown, a later run does that took about as much, because the limit also counts kernel memory, which no peak
 * includes. Any other run took more and survived at best: then only the policy that never says less than this run's peak may rest on it.
 */
static bool shows_enough(const struct rt_advice *advice, const struct evidence *one,
			 const struct evidence *killed)
{
	bool has_sizes = one->input_bytes >= 0 && killed->input_bytes >= 0;

	if (one->started > killed->started) {
		if (has_sizes && settles_kill(one->input_bytes, killed->input_bytes))
			return true;
		if (!has_sizes && peak_of(one) >= SETTLING_SHARE * killed->oom_had_mib)
			return true;
	}
	return advice->policy == RT_POLICY_MAX && peak_of(one) >= killed->oom_had_mib &&
	       settles_kill(killed->input_bytes, one->input_bytes);
}

/* Many later runs that needed less settle a kill, too, where the sizes of inputs are unknown. */
static bool is_settled(const struct rt_advice *advice, const struct past *past, const struct evidence *killed)
{
	size_t later = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];

		if (!one->good)
			continue;
		if (shows_enough(advice, one, killed))
			return true;
		later += one->started > killed->started &&
			 !(one->input_bytes >= 0 && killed->input_bytes >= 0);
	}
	return later >= RUNS_TO_FORGET_A_KILL;
}

static void add_usage_of(struct usage *usage, const struct evidence *one)
{
	usage->sampled_peak_mib = larger_known(usage->sampled_peak_mib, one->sampled_peak_mib);
	usage->process_peak_mib = larger_known(usage->process_peak_mib, one->process_peak_mib);
	usage->between_peak_mib = larger_known(usage->between_peak_mib, one->between_peak_mib);
	usage->swapped |= one->swapped;
	if (one->oom_floor_mib > usage->oom_floor_mib) {
		usage->oom = one->oom;
		usage->oom_had_mib = one->oom_had_mib;
		usage->oom_floor_mib = one->oom_floor_mib;
	}
	usage->kernel_mib = larger_known(usage->kernel_mib, one->kernel_mib);
}

bool keep_told_inputs(struct past *past)
{
	bool is_told = false;

	for (size_t i = 0; i < past->count; i++)
		is_told |= past->list[i].input_bytes >= 0 && !past->list[i].input_is_guessed;
	for (size_t i = 0; is_told && i < past->count; i++)
		if (past->list[i].input_is_guessed)
			past->list[i].input_bytes = NAN;
	return is_told;
}

/*
 * The runs whose need is known. One that was cut short took at least what its samples show: this counts for the largest need, but
 * not for usual ones. One that was killed for lack of memory shows no need at all.
 */
static size_t take_needs(struct rt_advice *advice, const struct past *past, struct sized_run *ret_runs)
{
	size_t count = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];
		double peak = peak_of(one);

		add_usage_of(&advice->usage, one);
		if (!isnan(peak) &&
		    (one->good || (advice->policy == RT_POLICY_MAX && !(one->oom_had_mib > 0))))
			ret_runs[count++] = (struct sized_run){peak, one->input_bytes, one->secs};
	}
	return count;
}

/* The kills that nothing settled, and the most that they or, for the safe policy, settled ones demand by themselves. */
static size_t take_kills(const struct rt_advice *advice, const struct past *past,
			 struct sized_kill *ret_kills, double *ret_floor_mib)
{
	size_t count = 0;

	*ret_floor_mib = 0;
	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];

		if (!(one->oom_had_mib > 0))
			continue;
		if (!is_settled(advice, past, one)) {
			ret_kills[count++] = (struct sized_kill){one->oom_had_mib, one->input_bytes};
			*ret_floor_mib = fmax(*ret_floor_mib, one->oom_floor_mib);
		} else if (advice->policy == RT_POLICY_MAX && isnan(one->input_bytes)) {
			*ret_floor_mib = fmax(*ret_floor_mib, one->oom_had_mib * CHARGED_MARGIN);
		}
	}
	return count;
}

/* "0.9 GiB and 2.6 bytes for each byte of input" */
static void add_line_of_sizes(struct buffer *out, const struct sizing_answer *sizing)
{
	double slope = sizing->per_byte * 1024 * 1024;

	buffer_add_text(out, amount_of_mib(fabs(sizing->fixed)).text);
	buffer_printf(out, slope < 0 ? " less " : sizing->fixed < 0 ? " below " : " and ");
	add_figure(out, fabs(slope));
	buffer_add_text(out, " bytes for each byte of input");
}

/* The basis of an attempt after the first. */
static const char *why_attempt(const struct sizing_answer *sizing, unsigned attempt)
{
	if (fabs(sizing->need - sizing->largest * CHARGED_MARGIN) < 1)
		return "a tenth more than the largest peak";
	return attempt > 3 ? "twice what the attempt before had"
			   : "half as much again as the attempt before had";
}

static const char *basis_of(const struct usage *usage)
{
	if (is_between_samples(usage))
		return "what its processes may have held together between two samples";
	if (usage->process_peak_mib > usage->sampled_peak_mib || isnan(usage->sampled_peak_mib))
		return "the kernel's peak of the largest process";
	return "the peak of the process tree";
}

static enum sizing_aim aim_of(enum rt_policy policy)
{
	return policy == RT_POLICY_COST ? AIM_COST : policy == RT_POLICY_P95 ? AIM_P95 : AIM_SAFE;
}

/* A line is held between a quarter of the smallest peak and four times the largest. */
static bool is_held(const struct sizing_answer *sizing, double input_bytes)
{
	return fabs(sizing->fixed + sizing->per_byte * input_bytes - sizing->base) > OVER * sizing->base;
}

/* Says on what the memory rests. */
static void tell_memory_basis(struct rt_advice *advice, bool is_by_kill)
{
	const struct sizing_answer *sizing = &advice->sizing;
	CLEANUP_BUFFER struct buffer text = BUFFER(sizeof(advice->memory_basis));

	if (advice->memory_mib == round_for_site(advice, 0) && !(sizing->need > advice->least_mib))
		buffer_add_text(&text, "the least that is advised");
	else if (sizing->is_retry)
		buffer_add_text(&text, why_attempt(sizing, advice->attempt));
	else if (sizing->kill_had > 0)
		buffer_printf(&text,
			      "half as much again as the %s that a run of about this input had when it ran "
			      "out of memory",
			      amount_of_mib(sizing->kill_had).text);
	else if (is_by_kill)
		buffer_add_text(&text, "what was not enough when it ran out of memory");
	else if (sizing->is_floor)
		buffer_add_text(&text, "the largest peak of an input of this size or less");
	else if (sizing->shape == SHAPE_NEAREST)
		buffer_add_text(&text, "by the 7 runs nearest in size of input");
	else if (sizing->shape == SHAPE_LINE && is_held(sizing, advice->input_bytes))
		buffer_add_text(&text,
				advice->sizing.is_beyond
					? "four times the largest need, as far as a line is trusted"
					: "a quarter of the smallest need, as far as a line is trusted");
	else if (sizing->shape == SHAPE_LINE)
		add_line_of_sizes(&text, sizing);
	else if (is_below_largest(sizing))
		buffer_printf(&text,
			      advice->policy == RT_POLICY_P95 ? "%s, which 95 %% of %zu runs stayed below"
							      : "%s, which costs least in all for %zu runs",
			      amount_of_mib(sizing->base).text, sizing->runs);
	else
		buffer_add_text(&text, basis_of(&advice->usage));
	snprintf(advice->memory_basis, sizeof(advice->memory_basis), "%s", text.data ? text.data : "");
}

/* Memory that the kernel has for the job is charged like its own. */
static double with_kernel_memory(const struct rt_advice *advice)
{
	const struct sizing_answer *sizing = &advice->sizing;

	return (sizing->base + advice->usage.kernel_mib) * (1 + fmin(sizing->margin, CHARGED_MARGIN - 1));
}

static struct sizing_question question_of(const struct rt_advice *advice)
{
	return (struct sizing_question){aim_of(advice->policy), advice->input_bytes, advice->attempt, false};
}

int64_t round_for_site(const struct rt_advice *advice, double mib)
{
	double steps = ceil(fmin(fmax(mib, advice->least_mib), MOST) / advice->step_mib);

	return (int64_t)ceil(steps * advice->step_mib);
}

/* The first attempt had the site's rounded size: each further one has more than the one before. */
static double need_above_first(const struct rt_advice *advice, const struct sized_run *runs, size_t count)
{
	struct sizing_question question = question_of(advice);
	double first;

	question.attempt = 1;
	first = size_need(&SIZING_MEMORY, &question, runs, count, NULL, 0).need;
	return advice->sizing.need * (double)round_for_site(advice, first) / first;
}

bool advise_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
		   struct sized_kill *kills, size_t *ret_count)
{
	struct sizing_question question = question_of(advice);
	size_t count = take_needs(advice, past, runs), kill_count;
	double floor, mib;

	*ret_count = count;
	kill_count = take_kills(advice, past, kills, &floor);
	/* Beside good runs, a kill says that half as much again may do. Without any, the recording's own estimate is better. */
	advice->sizing = size_need(&SIZING_MEMORY, &question, runs, count, kills,
				   count || advice->attempt > 1 ? kill_count : 0);
	if (count && kill_count)
		floor = 0;
	mib = larger_known(advice->sizing.need, floor);
	if (advice->policy == RT_POLICY_MAX) {
		double with_kernel = with_kernel_memory(advice);

		advice->memory_by_kernel = with_kernel > mib;
		mib = larger_known(mib, with_kernel);
	}
	if (advice->sizing.is_retry && isnan(advice->sizing.kill_had) &&
	    (advice->least_mib > LEAST_MIB || advice->step_mib > MEMORY_STEP_MIB))
		mib = larger_known(mib, need_above_first(advice, runs, count));
	advice->memory_at_least = advice->sizing.kill_had > 0 || (kill_count && !count);
	if (mib > 0)
		advice->memory_mib = round_for_site(advice, mib);
	else if (count)
		advice->memory_mib = round_for_site(advice, LEAST_MIB);
	return floor >= mib || advice->sizing.kill_had > 0;
}

static void decide_memory_formula(struct rt_advice *advice, const struct sized_run *runs, size_t count,
				  const struct sized_kill *kills, size_t kill_count)
{
	struct sizing_formula formula =
		size_formula(&SIZING_MEMORY, aim_of(advice->policy), runs, count, kills, kill_count);
	double kernel_mib = advice->policy == RT_POLICY_MAX ? advice->usage.kernel_mib * CHARGED_MARGIN : 0;

	formula.fixed += kernel_mib;
	formula.least = fmax(formula.least, LEAST_MIB) + kernel_mib;
	formula.least = fmax(formula.least, advice->least_mib);
	formula.most = fmax(formula.most, formula.least);
	advice->memory_formula = formula;
}

static void decide_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
			  struct sized_kill *kills)
{
	struct sizing_question question = question_of(advice);
	size_t count;
	bool is_by_kill = advise_memory(advice, past, runs, kills, &count);
	double floor;

	advice->backtest = size_backtest(&question, runs, count);
	decide_memory_formula(advice, runs, count, kills, take_kills(advice, past, kills, &floor));
	question.attempt = advice->attempt + 1;
	if (count && advice->memory_mib > 0)
		advice->memory_again_mib = round_for_site(
			advice, size_need(&SIZING_MEMORY, &question, runs, count,
					  &(struct sized_kill){(double)advice->memory_mib, NAN}, 1)
					.need);
	tell_memory_basis(advice, is_by_kill);
}

/* ---- time ------------------------------------------------------------------------------------------------ */

/* The longest of the runs of this size or less that were cut short and that no later run settles: the job takes at least this. */
static double longest_cut(const struct rt_advice *advice, const struct past *past)
{
	double longest = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *cut = &past->list[i];
		bool is_settled_cut = cut->is_whole || cut->input_bytes > advice->input_bytes;

		for (size_t k = i + 1; k < past->count && !is_settled_cut; k++)
			is_settled_cut = past->list[k].is_whole &&
					 settles_kill(past->list[k].input_bytes, cut->input_bytes);
		if (!is_settled_cut)
			longest = larger_known(longest, cut->secs);
	}
	return longest;
}

/*
 * A run that was cut short or killed, or that failed, says nothing of the time of a whole one. A single run does not show how far
 * times scatter, and a limit that is too short costs all of a run, so two runs are needed.
 */
static void decide_time(struct rt_advice *advice, const struct past *past, struct sized_run *runs)
{
	struct sizing_question question = {AIM_SAFE, advice->input_bytes, advice->attempt, false};
	size_t count = 0;
	double secs;

	for (size_t i = 0; i < past->count; i++)
		if (past->list[i].is_whole && past->list[i].secs > 0)
			runs[count++] = (struct sized_run){past->list[i].secs, past->list[i].input_bytes, 1};
	if (count < TIMES_LEAST)
		return;
	advice->timing = size_need(&SIZING_TIME, &question, runs, count, NULL, 0);
	advice->time_formula = size_formula(&SIZING_TIME, AIM_SAFE, runs, count, NULL, 0);
	advice->cut_secs = longest_cut(advice, past);
	secs = larger_known(advice->timing.need, advice->cut_secs);
	advice->time_secs = (int64_t)ceil(fmin(secs, MOST) / (double)MINUTE) * MINUTE;
}

/* ---- cores ----------------------------------------------------------------------------------------------- */

static int64_t whole_cores(double cores)
{
	return cores > 1 + OVER ? (int64_t)ceil(fmin(cores, MOST) - OVER) : 1;
}

/* Returns the number of cores with the fewest core hours. Among equals it is the largest, which finishes first. */
static int64_t cheapest_cores(const struct shape *shape, int64_t most)
{
	double least = INFINITY;
	int64_t best = most;

	for (int64_t cores = most; cores >= 1; cores--) {
		double hours = (double)cores * shape_stretch(shape, (double)cores);

		if (hours < least) {
			least = hours;
			best = cores;
		}
	}
	return best;
}

double advice_stretch(const struct rt_advice *advice, int64_t cores)
{
	double recordings =
		ceil((double)advice->ranks.tasks_on_host / (double)advice->ranks.tasks_per_recording);

	return shape_stretch(&advice->shape, (double)cores / recordings);
}

/* Decides the cores of one recording, then multiplies by the number of recordings on a host. */
static void decide_cores(struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;
	struct ranks *ranks = &advice->ranks;
	int64_t recordings = (int64_t)((ranks->tasks_on_host + ranks->tasks_per_recording - 1) /
				       ranks->tasks_per_recording);
	double sustained;

	if (isnan(usage->busy_cores))
		return;
	advice->cpu_limit = whole_cores(usage->busy_cores);
	advice->cpu = advice->cpu_limit;
	if (advice->policy == RT_POLICY_P95)
		advice->cpu = whole_cores(usage->p95_cores);
	else if (advice->policy == RT_POLICY_COST && advice->shape.total_secs > 0)
		advice->cpu = cheapest_cores(&advice->shape, advice->cpu_limit);
	advice->cpu_stretch = shape_stretch(&advice->shape, (double)advice->cpu);
	sustained =
		larger_known(shape_cap(&advice->shape, SUSTAINED), usage->mean_cores / (double)recordings);
	sustained = fmin(fmax(ceil(10 * sustained - OVER) / 10, 0.1), (double)advice->cpu);
	ranks->task_cpus =
		(advice->cpu + (int64_t)ranks->tasks_per_recording - 1) / (int64_t)ranks->tasks_per_recording;
	advice->cpu_request = sustained * (double)recordings;
	advice->cpu_limit *= recordings;
	advice->cpu *= recordings;
}

int64_t rt_round_memory_mib(double mib)
{
	int64_t step = 128;

	if (!(mib < MOST))
		return mib >= MOST ? (int64_t)MOST : step;
	while (step < 2 * GIB_MIB && (double)step < mib)
		step *= 2;
	return (double)step >= mib ? step : (int64_t)ceil(mib / (double)GIB_MIB) * GIB_MIB;
}

static int64_t at_least_one(double value)
{
	return value >= 1.5 ? (int64_t)round_like_python(fmin(value, MOST), 0) : 1;
}

static void decide_gpus(struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;

	if (!isnan(usage->max_gpus))
		advice->gpu = usage->max_gpus > 0 ? at_least_one(usage->max_gpus) : 0;
	if (!isnan(usage->vram_peak_mib))
		advice->vram_mib =
			usage->vram_peak_mib > 0 ? rt_round_memory_mib(usage->vram_peak_mib * MARGIN) : 0;
	/* A GPU may hold data without ever being busy. */
	if (advice->vram_mib > 0 && advice->gpu == 0)
		advice->gpu = 1;
}

/* ---- all runs together ----------------------------------------------------------------------------------- */

static double average_of(double sum, size_t count)
{
	return count ? sum / (double)count : (double)NAN;
}

/* Tells whether more than the peaks of a run count. */
static bool counts_fully(const struct rt_advice *advice, const struct advice_run *run)
{
	return !*run->thin || advice->forced;
}

static void add_means(struct rt_advice *advice, const struct runs *runs, const struct past *past)
{
	struct usage *usage = &advice->usage;
	double cores = 0, gpus = 0;
	size_t with_cores = 0, with_gpus = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];

		usage->max_gpus = larger_known(usage->max_gpus, one->max_gpus);
		usage->vram_peak_mib = larger_known(usage->vram_peak_mib, one->vram_peak_mib);
		usage->max_cores = larger_known(usage->max_cores, one->max_cores);
		usage->busy_cores = larger_known(usage->busy_cores, one->busy_cores);
		usage->p95_cores = larger_known(usage->p95_cores, one->p95_cores);
		if (isnan(one->mean_cores))
			continue;
		cores += one->mean_cores;
		with_cores++;
	}
	for (size_t i = 0; i < runs->count; i++) {
		const struct advice_run *run = &runs->list[i];
		double mean = run->stats ? figure_of_stats(run->stats, "process_gpu_usage", "mean")
					 : run->evidence.mean_gpus;

		if (!counts_fully(advice, run))
			continue;
		if (run->summary)
			shape_merge(&advice->shape, &run->summary->facts.core_shape);
		if (run->summary && !run->summary->facts.tracked)
			mean = figure_mean(&run->summary->facts.host_gpu_usage);
		if (isnan(mean))
			continue;
		gpus += mean;
		with_gpus++;
	}
	usage->mean_cores = average_of(cores, with_cores);
	usage->mean_gpus = average_of(gpus, with_gpus);
}

/* Keeps only the peaks of thin runs, unless the user forces advice. */
static void forget_rest(struct evidence *evidence)
{
	evidence->mean_cores = evidence->max_cores = evidence->busy_cores = evidence->p95_cores = NAN;
}

/* Statistics in a file may have names that mean nothing here. */
static int check_stats(const struct runs *runs, struct rt_problem *problem)
{
	CLEANUP_FREE const rt_stats **stats = calloc(runs->count, sizeof(rt_stats *));
	rt_stats *all = NULL;
	size_t count = 0;
	int result;

	if (!stats)
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->list[i].stats)
			stats[count++] = runs->list[i].stats;
	if (!count)
		return 0;
	result = rt_stats_combine(stats, count, &all, problem);
	rt_stats_free(all);
	return result;
}

static int combine_runs(struct rt_advice *advice, const struct runs *runs)
{
	CLEANUP_FREE size_t *group = calloc(runs->count, sizeof(*group));
	CLEANUP_FREE struct evidence *list = calloc(runs->count, sizeof(*list));
	CLEANUP_FREE struct sized_run *needs = calloc(runs->count, sizeof(*needs));
	CLEANUP_FREE struct sized_kill *kills = calloc(runs->count, sizeof(*kills));
	struct past past = {list, 0};

	if (!group || !list || !needs || !kills)
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++)
		if (!counts_fully(advice, &runs->list[i]))
			forget_rest(&runs->list[i].evidence);
	past.count = find_groups(runs, group);
	advice->siblings = siblings_of_first(runs, group);
	for (size_t i = 0; i < past.count; i++) {
		struct ranks ranks;

		list[i] = join_group(runs, group, i, &ranks);
		if (i == 0 || ranks.tasks > advice->ranks.tasks)
			advice->ranks = ranks;
	}
	advice->runs = past.count;
	qsort(list, past.count, sizeof(*list), by_start);
	(void)keep_told_inputs(&past);
	add_means(advice, runs, &past);
	decide_memory(advice, &past, needs, kills);
	decide_time(advice, &past, needs);
	decide_cores(advice);
	decide_gpus(advice);
	return advice->wants_plot
		       ? make_size_plot(advice, &past, runs->list[0].evidence.started, needs, kills)
		       : 0;
}

/* Refuses if all runs are thin. Some thin runs among others are left out. --force uses them all. */
static bool refuse_thin_runs(struct rt_advice *advice, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (!*runs->list[i].thin)
			continue;
		if (advice->forced) {
			advice_note(advice, "thin_data", "--force gives advice although %s",
				    runs->list[i].thin);
			continue;
		}
		advice->runs_left_out++;
		if (!*advice->refused)
			snprintf(advice->refused, sizeof(advice->refused), "%s", runs->list[i].thin);
	}
	if (advice->runs_left_out == runs->count)
		return true;
	if (advice->runs_left_out)
		advice_note(advice, "runs_left_out", "%zu of %zu runs say too little: %s",
			    advice->runs_left_out, runs->count, advice->refused);
	advice->refused[0] = '\0';
	return false;
}

static void note_lines_left_out(struct rt_advice *advice, const struct lines_left_out *lines)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(NOTE_BYTES);

	lines_left_out_text(&text, lines);
	if (text.length && !buffer_error(&text))
		advice_note(advice, "lines_left_out", "left out of the files of runs: %s", text.data);
}

static int advise_on_runs(struct rt_advice *advice, const struct runs *runs)
{
	bool refused = refuse_thin_runs(advice, runs);
	int result = 0;

	advice->runs = runs->count;
	/* The cost is that of the first run, whatever the length of others. */
	advice->usage.duration_secs = runs->list[0].stats
					      ? figure_of_stats(runs->list[0].stats, "timestamp", "duration")
					      : runs->list[0].evidence.secs;
	if (runs->list[0].summary)
		advice->usage.gpu_joules = summary_gpus_energy_joules(runs->list[0].summary->facts.gpus);
	if (!refused)
		result = combine_runs(advice, runs);
	if (result == 0 && runs->list[0].summary && (!refused || runs->list[0].summary->facts.tracked))
		advice_judge(advice, &runs->list[0].summary->facts);
	else if (result == 0 && !runs->list[0].stats && advice->usage.oom_floor_mib > 0)
		advice_judge_kills(advice);
	if (result == 0 && !refused)
		advice_doubt(advice);
	advice->runs += runs->empty;
	advice->runs_left_out += runs->empty;
	if (runs->empty)
		advice_note(advice, "runs_left_out", "%zu of %zu runs have no whole sample", runs->empty,
			    advice->runs);
	note_lines_left_out(advice, &runs->left_out);
	return result;
}

struct rt_advice start_advice(const struct rt_recommend_options *options)
{
	return (struct rt_advice){
		.forced = options->force,
		.policy = options->policy,
		.usage = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, OOM_NONE, false,
			  0},
		.ranks = {1, 1, 1, 1, 1, -1, NAN},
		.sizing = {.need = NAN, .base = NAN, .usual = NAN, .kill_had = NAN},
		.timing = {.need = NAN, .base = NAN, .largest = NAN},
		.input_bytes = options->input_bytes > 0 ? options->input_bytes : (double)NAN,
		.attempt = options->attempt > 0 ? options->attempt : 1,
		.least_mib = options->memory_least_mib > 0 ? options->memory_least_mib : LEAST_MIB,
		.step_mib = options->memory_step_mib > 0 ? options->memory_step_mib : MEMORY_STEP_MIB,
		.backtest = {.reserved_per_used = NAN},
		.cpu = -1,
		.cpu_limit = -1,
		.cpu_request = NAN,
		.cpu_stretch = NAN,
		.memory_mib = -1,
		.memory_again_mib = -1,
		.gpu = -1,
		.vram_mib = -1,
		.time_secs = -1,
		.allocation = "unknown",
		.usd_per_hour = options->usd_per_hour > 0 ? options->usd_per_hour : (double)NAN,
	};
}

static void cleanup_new_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

/* `known` is the summary of the first path, or NULL. Such advice is for a page. */
static int recommend_from(const char *const *paths, size_t path_count, rt_summary *known,
			  const struct rt_recommend_options *given, rt_advice **ret_advice,
			  struct rt_problem *ret_problem)
{
	struct rt_recommend_options options;
	__attribute__((cleanup(runs_done))) struct runs runs = {0};
	__attribute__((cleanup(cleanup_new_advice))) rt_advice *advice = calloc(1, sizeof(*advice));
	int result = TAKE_OPTIONS(ret_problem, &options, rt_recommend_options, attempt, given);

	if (result < 0)
		return result;
	if (!path_count)
		return problem_set(ret_problem, -EINVAL, "no recording was named");
	if (options.policy < RT_POLICY_MAX || options.policy > RT_POLICY_COST)
		return problem_set(ret_problem, -EINVAL, "there is no such policy");
	if (!advice)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	*advice = start_advice(&options);
	advice->wants_plot = known;
	for (size_t i = 0; i < path_count && result == 0; i++)
		result = runs_add_path(&runs, paths[i], i == 0 ? known : NULL,
				       runs.count || i + 1 < path_count, &options, ret_problem);
	if (result == 0)
		result = check_stats(&runs, ret_problem);
	if (result == 0)
		result = advise_on_runs(advice, &runs);
	if (result < 0)
		return result == -ENOMEM ? problem_set(ret_problem, result, "out of memory") : result;
	*ret_advice = advice;
	advice = NULL;
	return 0;
}

int rt_recommend(const char *const *paths, size_t path_count, const struct rt_recommend_options *options,
		 rt_advice **ret_advice, struct rt_problem *ret_problem)
{
	return recommend_from(paths, path_count, NULL, options, ret_advice, ret_problem);
}

int recommend_of_summary(const char *path, rt_summary *summary, const char *const *history,
			 size_t history_count, const struct rt_recommend_options *options,
			 rt_advice **ret_advice, struct rt_problem *ret_problem)
{
	CLEANUP_FREE const char **paths = calloc(history_count + 1, sizeof(*paths));

	if (!paths)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	paths[0] = path;
	for (size_t i = 0; i < history_count; i++)
		paths[i + 1] = history[i];
	return recommend_from(paths, history_count + 1, summary, options, ret_advice, ret_problem);
}

void rt_advice_free(rt_advice *advice)
{
	if (advice)
		free(advice->plot);
	free(advice);
}

struct rt_value rt_advice_get(const rt_advice *advice, const char *name)
{
	const struct {
		const char *name;
		int64_t value;
	} FIGURES[] = {{"cpu", advice->cpu},
		       {"memory", advice->memory_mib},
		       {"gpu", advice->gpu},
		       {"vram", advice->vram_mib},
		       {"time", advice->time_secs}};

	for (size_t i = 0; i < ARRAY_SIZE(FIGURES); i++)
		if (strcmp(name, FIGURES[i].name) == 0)
			return FIGURES[i].value < 0
				       ? (struct rt_value){.reason = ABSENT_NOT_COLLECTED}
				       : (struct rt_value){.type = RT_TYPE_COUNT, .count = FIGURES[i].value};
	return (struct rt_value){.reason = ABSENT_NOT_GIVEN};
}

const char *rt_advice_refused(const rt_advice *advice)
{
	return *advice->refused ? advice->refused : NULL;
}

int rt_advice_note(const rt_advice *advice, size_t index, const char **ret_rule, const char **ret_text)
{
	if (index >= advice->note_count)
		return -ENOENT;
	*ret_rule = advice->notes[index].rule;
	*ret_text = advice->notes[index].text;
	return 0;
}

void rt_advice_set_price(rt_advice *advice, double usd_per_hour)
{
	advice->usd_per_hour = usd_per_hour;
}

static void copy_server_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

int rt_advice_set_server(rt_advice *advice, const struct rt_server *given)
{
	struct rt_server own;
	const struct rt_server *server = &own;
	int result = take_sized(&own, sizeof(own), SIZE_UP_TO(struct rt_server, usd_per_hour), given);

	if (result < 0)
		return result;
	advice->server.asked = true;
	copy_server_text(advice->server.question, sizeof(advice->server.question), server->question);
	copy_server_text(advice->server.problem, sizeof(advice->server.problem), server->problem);
	copy_server_text(advice->server.vendor, sizeof(advice->server.vendor), server->vendor);
	copy_server_text(advice->server.type, sizeof(advice->server.type), server->type);
	copy_server_text(advice->server.region, sizeof(advice->server.region), server->region);
	advice->server.vcpus = server->vcpus;
	advice->server.memory_mib = server->memory_mib;
	advice->server.usd_per_hour = server->usd_per_hour;
	return 0;
}
