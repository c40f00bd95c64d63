/* What to ask for next time: the figures; see recommend.h. */
#include "record/recommend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain_print.h"
#include "record/stats.h"

static const double BUFFER_FACTOR = 1.2;
static const double SHORTEST_SECS = 1, OOM_LEAST_MIB = 100;
static const double MOST = 1e15; /* of anything: statistics of others may say what they like */
enum { SAMPLES_LEAST = 2, MEMORY_STEP_MIB = 1024, FIGURE_DECIMALS = 6 };

/* One run as advice sees it: a recording, or the statistics of one. */
struct run {
	rt_summary *summary; /* NULL: only its statistics are known */
	rt_stats *stats;
	bool borrowed;  /* the summary is somebody else's */
	char thin[160]; /* why nothing should be concluded from it; "": it is fine */
};

struct runs {
	struct run *list;
	size_t count;
};

static void runs_done(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (!runs->list[i].borrowed)
			rt_summary_free(runs->list[i].summary);
		rt_stats_free(runs->list[i].stats);
	}
	free(runs->list);
}

int64_t rt_round_memory_mib(double mib)
{
	int64_t step = 128;

	if (!(mib < MOST))
		return mib >= MOST ? (int64_t)MOST : step;
	while (step < 2 * MEMORY_STEP_MIB && (double)step < mib)
		step *= 2;
	return (double)step >= mib ? step : (int64_t)ceil(mib / MEMORY_STEP_MIB) * MEMORY_STEP_MIB;
}

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static void find_thin(struct run *run)
{
	const struct rt_summary *summary = run->summary;
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";

	if (strcmp(reason, "exec_failed") == 0)
		snprintf(run->thin, sizeof(run->thin), "the command could not be started");
	else if (!summary->tracked)
		snprintf(run->thin, sizeof(run->thin), "no process was tracked");
	else if (!end && strcmp(summary->layout, "json") == 0)
		snprintf(run->thin, sizeof(run->thin),
			 "it has no end: it goes on, or its tracker was killed");
	else if (summary->samples < SAMPLES_LEAST)
		snprintf(run->thin, sizeof(run->thin), "it has one sample only");
	else if (summary->wall_secs < SHORTEST_SECS)
		plain_print(run->thin, sizeof(run->thin), "it is only %.2f s long", summary->wall_secs);
}

/*
 * Means weigh each sample by its time: the first and the last one of a run may stand for a moment only, and would count
 * as much as minutes. What slept used little, and not nothing: hence the decimals.
 */
static int read_stats(struct run *run, const char *path, struct rt_problem *problem)
{
	size_t count;
	const struct rt_stat_spec *defaults = rt_stats_default_specs(&count);
	CLEANUP_FREE struct rt_stat_spec *specs = calloc(count, sizeof(*specs));

	if (!specs)
		return problem_set(problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		specs[i] = defaults[i];
		specs[i].name = specs[i].aggregate;
		specs[i].decimals = FIGURE_DECIMALS;
		if (strcmp(specs[i].aggregate, "mean") == 0)
			specs[i].aggregate = "time_mean";
	}
	return rt_stats_read_record(&path, 1, specs, count, &run->stats, problem);
}

static int read_run(struct run *run, const char *path, struct rt_problem *problem)
{
	struct rt_problem no_stats = {0};
	int result = 0;

	if (strcmp(path, "-") == 0)
		return problem_set(problem, -ESPIPE,
				   "advice takes more than one look at a recording; give it a file");
	if (!run->summary) {
		result = rt_stats_read_json(path, &run->stats, &no_stats);
		if (result < 0 && result != -EBADMSG)
			return problem_set(problem, result, "%s", no_stats.text);
		if (result == 0)
			return 0;
		result = rt_summary_read(&path, 1, &run->summary, problem);
	}
	if (result == 0)
		result = read_stats(run, path, problem);
	if (result == 0)
		find_thin(run);
	return result;
}

static bool was_oom(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);

	return end && ((!text_absent(end->reason) && strncmp(end->reason, "oom_kill", 8) == 0) ||
		       (!count_absent(end->oom_kills) && end->oom_kills > 0));
}

/* Also of runs that are too thin for a mean: what was seen there was needed. */
static void add_peaks(struct usage *usage, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	double peak = summary->memory.most;

	if (end && (text_absent(end->memory_peak_source) ||
		    (strcmp(end->memory_peak_source, "cgroup") != 0 &&
		     strcmp(end->memory_peak_source, "largest_process") != 0)))
		peak = larger(peak, end->memory_peak_mib);
	usage->sampled_peak_mib = larger(usage->sampled_peak_mib, peak);
	usage->max_gpus = larger(usage->max_gpus, summary->gpu_usage.most);
	usage->vram_peak_mib = larger(usage->vram_peak_mib, summary->gpu_vram_mib.most);
	if (end)
		usage->process_peak_mib = larger(usage->process_peak_mib, end->largest_process_peak_mib);
	if (was_oom(summary)) {
		double had = larger(peak, end->largest_process_peak_mib);

		if (!isnan(summary->memory_limit_mib))
			had = larger(had, summary->memory_limit_mib);
		if (!isnan(had))
			usage->oom_floor_mib =
				fmax(usage->oom_floor_mib, fmax(had * BUFFER_FACTOR, had + OOM_LEAST_MIB));
	}
}

static double stat(const rt_stats *stats, const char *column, const char *name)
{
	return cell_real(rt_stats_get(stats, column, name), NAN);
}

/* A recording of the machine alone, when an answer is wanted all the same. */
static void use_machine(struct usage *usage, const struct rt_summary *summary)
{
	usage->mean_cores = figure_mean(&summary->host_cores);
	usage->max_cores = summary->host_cores.most;
	usage->sampled_peak_mib = summary->host_memory.most;
	usage->mean_gpus = figure_mean(&summary->host_gpu_usage);
	usage->max_gpus = summary->host_gpu_usage.most;
	usage->vram_peak_mib = summary->host_gpu_vram_mib.most;
}

static int combine(struct rt_advice *advice, const struct runs *runs, struct rt_problem *problem)
{
	CLEANUP_FREE const rt_stats **stats = calloc(runs->count, sizeof(rt_stats *));
	struct usage *usage = &advice->usage;
	rt_stats *all = NULL;
	size_t count = 0;
	int result;

	if (!stats)
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->list[i].summary)
			add_peaks(usage, runs->list[i].summary);
		if (!*runs->list[i].thin || advice->forced)
			stats[count++] = runs->list[i].stats;
	}
	result = rt_stats_combine(stats, count, &all, problem);
	if (result < 0)
		return result;
	usage->mean_cores = stat(all, "process_cpu_usage", "mean");
	usage->max_cores = stat(all, "process_cpu_usage", "max");
	usage->sampled_peak_mib = larger(usage->sampled_peak_mib, stat(all, "process_memory_mib", "max"));
	usage->mean_gpus = stat(all, "process_gpu_usage", "mean");
	usage->max_gpus = larger(usage->max_gpus, stat(all, "process_gpu_usage", "max"));
	usage->vram_peak_mib = larger(usage->vram_peak_mib, stat(all, "process_gpu_vram_mib", "max"));
	rt_stats_free(all);
	if (runs->list[0].summary && !runs->list[0].summary->tracked)
		use_machine(usage, runs->list[0].summary);
	return 0;
}

static int64_t at_least_one(double value)
{
	return value >= 1.5 ? (int64_t)round_like_python(fmin(value, MOST), 0) : 1;
}

static void decide(struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;
	double peak = larger_peak(usage);

	if (!isnan(usage->mean_cores))
		advice->cpu = at_least_one(usage->mean_cores);
	advice->memory_basis =
		usage->process_peak_mib > usage->sampled_peak_mib || isnan(usage->sampled_peak_mib)
			? "the kernel's peak of the largest process"
			: "the sampled peak of the process tree";
	if (!isnan(peak) && peak * BUFFER_FACTOR < usage->oom_floor_mib)
		advice->memory_basis = "what was not enough when the job was killed for lack of memory";
	peak = isnan(peak) ? NAN : fmax(peak * BUFFER_FACTOR, usage->oom_floor_mib);
	if (!isnan(peak))
		advice->memory_mib = rt_round_memory_mib(peak);
	if (!isnan(usage->max_gpus))
		advice->gpu = usage->max_gpus > 0 ? at_least_one(usage->max_gpus) : 0;
	if (!isnan(usage->vram_peak_mib))
		advice->vram_mib = usage->vram_peak_mib > 0
					   ? rt_round_memory_mib(usage->vram_peak_mib * BUFFER_FACTOR)
					   : 0;
	/* Memory of a GPU that was never seen busy: it held data there. */
	if (advice->vram_mib > 0 && advice->gpu == 0)
		advice->gpu = 1;
}

/* The first run is the one that is asked about; without it there is no answer unless others are solid. */
static bool refuse(struct rt_advice *advice, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (!*runs->list[i].thin)
			continue;
		if (advice->forced) {
			advice_note(advice, "thin_data", "answered all the same, although %s",
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

static int advise(struct rt_advice *advice, const struct runs *runs, struct rt_problem *problem)
{
	bool refused = refuse(advice, runs);
	int result = 0;

	advice->runs = runs->count;
	/* What the run cost that is asked about, whatever others took. */
	advice->usage.duration_secs = stat(runs->list[0].stats, "timestamp", "duration");
	if (runs->list[0].summary)
		advice->usage.gpu_joules = summary_gpus_energy_joules(runs->list[0].summary);
	if (!refused)
		result = combine(advice, runs, problem);
	if (result == 0 && !refused)
		decide(advice);
	if (result == 0 && runs->list[0].summary && (!refused || runs->list[0].summary->tracked))
		advice_judge(advice, runs->list[0].summary);
	return result;
}

/* `known`: what rt_summary_read() said of the first path, or NULL. */
static int recommend(const char *const *paths, size_t path_count, rt_summary *known,
		     const struct rt_recommend_options *options, rt_advice **ret_advice,
		     struct rt_problem *ret_problem)
{
	__attribute__((cleanup(runs_done))) struct runs runs = {0};
	CLEANUP_FREE rt_advice *advice = calloc(1, sizeof(*advice));
	int result = 0;

	if (!path_count)
		return problem_set(ret_problem, -EINVAL, "no recording was named");
	runs.list = calloc(path_count, sizeof(*runs.list));
	if (!advice || !runs.list)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	*advice = (struct rt_advice){
		.forced = options && options->force,
		.usage = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0},
		.cpu = -1,
		.memory_mib = -1,
		.gpu = -1,
		.vram_mib = -1,
		.allocation = "unknown",
		.usd_per_hour = options && options->usd_per_hour > 0 ? options->usd_per_hour : (double)NAN,
	};
	runs.list[0].summary = known;
	runs.list[0].borrowed = known;
	for (size_t i = 0; i < path_count && result == 0; i++) {
		runs.count++;
		result = read_run(&runs.list[i], paths[i], ret_problem);
	}
	if (result == 0)
		result = advise(advice, &runs, ret_problem);
	if (result < 0)
		return result;
	*ret_advice = advice;
	advice = NULL;
	return 0;
}

int rt_recommend(const char *const *paths, size_t path_count, const struct rt_recommend_options *options,
		 rt_advice **ret_advice, struct rt_problem *ret_problem)
{
	return recommend(paths, path_count, NULL, options, ret_advice, ret_problem);
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
	return recommend(paths, history_count + 1, summary, options, ret_advice, ret_problem);
}

void rt_advice_free(rt_advice *advice)
{
	free(advice);
}

struct rt_cell rt_advice_get(const rt_advice *advice, const char *name)
{
	const struct {
		const char *name;
		int64_t value;
	} FIGURES[] = {{"cpu", advice->cpu},
		       {"memory", advice->memory_mib},
		       {"gpu", advice->gpu},
		       {"vram", advice->vram_mib}};

	for (size_t i = 0; i < ARRAY_SIZE(FIGURES); i++)
		if (strcmp(name, FIGURES[i].name) == 0 && FIGURES[i].value >= 0)
			return (struct rt_cell){.type = RT_CELL_COUNT, .count = FIGURES[i].value};
	return (struct rt_cell){0};
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

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

void rt_advice_set_server(rt_advice *advice, const struct rt_server *server)
{
	advice->server.asked = true;
	copy(advice->server.question, sizeof(advice->server.question), server->question);
	copy(advice->server.problem, sizeof(advice->server.problem), server->problem);
	copy(advice->server.vendor, sizeof(advice->server.vendor), server->vendor);
	copy(advice->server.type, sizeof(advice->server.type), server->type);
	copy(advice->server.region, sizeof(advice->server.region), server->region);
	advice->server.vcpus = server->vcpus;
	advice->server.memory_mib = server->memory_mib;
	advice->server.usd_per_hour = server->usd_per_hour;
}
