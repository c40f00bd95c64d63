/* Computes the advice for the next run. See recommend.h. */
#include "recommend/recommend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "table/stats.h"

static const double MARGIN = 1.2, OVER = 0.02, SUSTAINED = 1.05;
enum { GIB_MIB = 1024, TIMES_LEAST = 2, MINUTE = 60 };

static int by_start(const void *a, const void *b)
{
	double one = ((const struct evidence *)a)->started, other = ((const struct evidence *)b)->started;

	/* Statistics have no start time, so they count as the oldest. */
	if (isnan(one) || isnan(other))
		return (int)isnan(other) - (int)isnan(one);
	return (one > other) - (one < other);
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
	advice->time_secs = (int64_t)ceil(fmin(secs, MOST_OF_ANY) / (double)MINUTE) * MINUTE;
}

/* ---- cores ----------------------------------------------------------------------------------------------- */

static int64_t whole_cores(double cores)
{
	return cores > 1 + OVER ? (int64_t)ceil(fmin(cores, MOST_OF_ANY) - OVER) : 1;
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

	if (!(mib < MOST_OF_ANY))
		return mib >= MOST_OF_ANY ? (int64_t)MOST_OF_ANY : step;
	while (step < 2 * GIB_MIB && (double)step < mib)
		step *= 2;
	return (double)step >= mib ? step : (int64_t)ceil(mib / (double)GIB_MIB) * GIB_MIB;
}

static int64_t at_least_one(double value)
{
	return value >= 1.5 ? (int64_t)round_like_python(fmin(value, MOST_OF_ANY), 0) : 1;
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

/* The first run has a note of its own. */
static void note_failed_runs(struct rt_advice *advice, const struct runs *runs)
{
	size_t failed = 0;

	for (size_t i = 0; i < runs->count; i++)
		failed += runs->list[i].evidence.failed;
	if (failed > (runs->list[0].summary && runs->list[0].evidence.failed))
		advice_note(advice, "runs_failed",
			    "%zu of %zu runs failed: they may need more when they finish their work", failed,
			    runs->count);
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
	if (result == 0 && !refused) {
		note_failed_runs(advice, runs);
		advice_doubt(advice);
	}
	advice->runs += runs->empty;
	advice->runs_left_out += runs->empty;
	if (runs->empty)
		advice_note(advice, "runs_left_out", "%zu of %zu runs have no whole sample", runs->empty,
			    advice->runs);
	note_lines_left_out(advice, &runs->left_out);
	return result;
}

static void cleanup_new_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

/* `known` is the run of the first path, or NULL. Such advice is for a page. */
static int recommend_from(const char *const *paths, size_t path_count, const struct known_run *known,
			  const struct rt_recommend_options *given, rt_advice **ret_advice,
			  struct rt_problem *ret_problem)
{
	struct rt_recommend_options options;
	__attribute__((cleanup(runs_done))) struct runs runs = {0};
	__attribute__((cleanup(cleanup_new_advice))) rt_advice *advice = calloc(1, sizeof(*advice));
	int result = TAKE_OPTIONS(ret_problem, &options, rt_recommend_options, memory_step_mib, given);

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

int recommend_of_known(const char *path, const struct known_run *known, const char *const *history,
		       size_t history_count, const struct rt_recommend_options *options,
		       rt_advice **ret_advice, struct rt_problem *ret_problem)
{
	CLEANUP_FREE const char **paths = calloc(history_count + 1, sizeof(*paths));

	if (!paths)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	paths[0] = path;
	for (size_t i = 0; i < history_count; i++)
		paths[i + 1] = history[i];
	return recommend_from(paths, history_count + 1, known, options, ret_advice, ret_problem);
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
