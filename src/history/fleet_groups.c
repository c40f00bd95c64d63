/* Computes the figures of groups of runs. See fleet.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "history/fleet.h"
#include "history/fleet_jobs.h"

static const double P50 = 0.5, P95 = 0.95, HOUR_SECS = 3600;
/* In the order of groups, a core hour counts as much as this many GiB hours. */
static const double GIB_PER_CORE = 4;
/* And a GPU hour as much as this many core hours: clouds ask 15 to 50 times as much. */
static const double CORES_PER_GPU = 16;
/* The standard error of a median is about this times the median distance from it, by the root of the count. */
static const double ERROR_OF_MEDIAN = 1.253 * 1.4826, ERRORS_APART = 3, LEAST_CHANGE = 0.1;
enum { NEW_LEAST = 5, NEW_MOST = 50, OLD_MOST = 200 };

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Between two values in proportion, as numpy's percentile() and DuckDB's quantile_cont(). */
static double quantile_of(const double *sorted, size_t count, double fraction)
{
	double place = fraction * (double)(count - 1), below = floor(place);
	size_t index = (size_t)below;

	if (index + 1 >= count)
		return sorted[count - 1];
	return sorted[index] + (sorted[index + 1] - sorted[index]) * (place - below);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return quantile_of(values, count, P50);
}

/* Sorts the values. */
static struct fleet_range range_of_runs(double *values, size_t count)
{
	if (!count)
		return (struct fleet_range){NAN, NAN, NAN};
	qsort(values, count, sizeof(*values), by_value);
	return (struct fleet_range){quantile_of(values, count, P50), quantile_of(values, count, P95),
				    values[count - 1]};
}

/* Returns the median and its standard error. Changes the values. */
static double median_with_error(double *values, size_t count, double *ret_error)
{
	double median = median_of(values, count);

	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - median);
	*ret_error = ERROR_OF_MEDIAN * median_of(values, count) / sqrt((double)count);
	return median;
}

/* The newest values of a figure: once it is full, a heap with the oldest of them first. */
struct newest {
	size_t count;
	struct timed {
		double started, value;
	} list[NEW_MOST + OLD_MOST];
};

/* A run without a start time is the oldest. */
static int by_run_start(const void *a, const void *b)
{
	const struct timed *one = a, *other = b;

	return (one->started > other->started) - (one->started < other->started);
}

static void swap_timed(struct timed *a, struct timed *b)
{
	struct timed kept = *a;

	*a = *b;
	*b = kept;
}

static void add_newest(struct newest *newest, double started, double value)
{
	struct timed *list = newest->list;

	started = isnan(started) ? -INFINITY : started;
	if (newest->count < ARRAY_SIZE(newest->list)) {
		list[newest->count++] = (struct timed){started, value};
		/* A sorted list is a heap. */
		if (newest->count == ARRAY_SIZE(newest->list))
			qsort(list, newest->count, sizeof(list[0]), by_run_start);
		return;
	}
	if (started < list[0].started)
		return;
	list[0] = (struct timed){started, value};
	for (size_t at = 0;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < newest->count; child++)
			least = list[child].started < list[least].started ? child : least;
		if (least == at)
			return;
		swap_timed(&list[at], &list[least]);
		at = least;
	}
}

/* Compares the newest quarter of `count` runs (5 to 50 of them) with up to 200 runs before it. */
static struct fleet_drift drift_of(struct newest *newest, size_t count)
{
	size_t fresh = count / 4 < NEW_LEAST ? NEW_LEAST : count / 4 > NEW_MOST ? NEW_MOST : count / 4;
	size_t old = count > fresh ? count - fresh : 0;
	struct fleet_drift drift = {.change = NAN};
	double before, after, error_before, error_after, values[NEW_MOST + OLD_MOST];

	old = old > OLD_MOST ? OLD_MOST : old;
	if (old < NEW_LEAST)
		return drift;
	qsort(newest->list, newest->count, sizeof(newest->list[0]), by_run_start);
	for (size_t i = 0; i < old + fresh; i++)
		values[i] = newest->list[newest->count - fresh - old + i].value;
	before = median_with_error(values, old, &error_before);
	after = median_with_error(values + old, fresh, &error_after);
	if (!(before > 0))
		return drift;
	drift = (struct fleet_drift){after / before - 1, fresh, old, false};
	drift.is_clear = fabs(drift.change) >= LEAST_CHANGE &&
			 fabs(after - before) > ERRORS_APART * hypot(error_before, error_after);
	return drift;
}

/* ---- runs of a group --------------------------------------------------------------------------------- */

/* The runs of a group: lines that are runs, then jobs of several lines. */
struct group_runs {
	const struct fleet *fleet;
	const struct fleet_group *group;
	struct run_cursor cursor;
	const struct fleet_run *jobs;
	size_t job_count, job;
};

static bool next_run(struct group_runs *runs, struct fleet_run *ret_run)
{
	while (fleet_next_line(runs->fleet, &runs->cursor, ret_run))
		if (!ret_run->job)
			return true;
	if (runs->job == runs->job_count)
		return false;
	*ret_run = runs->jobs[runs->job++];
	return true;
}

static void start_again(struct group_runs *runs)
{
	runs->cursor = packed_runs_begin(&runs->group->lines);
	runs->job = 0;
}

static int find_jobs(const struct fleet *fleet, const struct fleet_group *group, struct fleet_run **ret_jobs,
		     size_t *ret_count)
{
	struct run_cursor cursor = packed_runs_begin(&group->lines);
	struct fleet_run run;
	size_t count = 0, room = 0;

	while (fleet_next_line(fleet, &cursor, &run)) {
		if (!run.job)
			continue;
		if (count == room) {
			struct fleet_run *grown =
				reallocarray(*ret_jobs, room ? 2 * room : 16, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			room = room ? 2 * room : 16;
			*ret_jobs = grown;
		}
		(*ret_jobs)[count++] = run;
	}
	return join_jobs(*ret_jobs, count, fleet->memory_reason, ret_count);
}

/* Computes a figure of the runs that ended well. */
static void compute_figure(struct group_runs *runs, size_t place, double *values,
			   struct fleet_range *ret_range, struct fleet_drift *ret_drift)
{
	struct newest newest = {0};
	struct fleet_run run;
	size_t count = 0;

	start_again(runs);
	while (next_run(runs, &run)) {
		double value = *(const double *)((const char *)&run + place);

		if (run.end != FLEET_OK || isnan(value))
			continue;
		values[count++] = value;
		if (ret_drift)
			add_newest(&newest, run.started, value);
	}
	if (ret_drift)
		*ret_drift = drift_of(&newest, count);
	*ret_range = range_of_runs(values, count);
}

static void add_run_use(struct fleet_group *group, const struct fleet_run *run, double *cores_asked_at,
			double *memory_asked_at)
{
	double started = isnan(run->started) ? -INFINITY : run->started;
	double hours = run->wall_secs / HOUR_SECS, core_hours = run->cpu_secs / HOUR_SECS;
	double cores = (run->cores_asked - run->cores) * hours;
	double gib = run->spare_gib * hours;

	group->core_hours += isnan(core_hours) ? 0 : core_hours;
	group->failed_core_hours += isnan(core_hours) || run->end != FLEET_FAILED ? 0 : core_hours;
	group->unused_core_hours += cores > 0 ? cores : 0;
	group->unused_gib_hours += gib > 0 ? gib : 0;
	group->core_runs += isnan(cores) ? 0 : 1;
	group->memory_runs += isnan(gib) ? 0 : 1;
	group->unused_gpu_hours += run->gpu_idle_hours > 0 ? run->gpu_idle_hours : 0;
	group->gpu_runs += isnan(run->gpu_idle_hours) ? 0 : 1;
	if (!isnan(run->cores_asked) && started >= *cores_asked_at) {
		group->cores_asked = run->cores_asked;
		*cores_asked_at = started;
	}
	if (!isnan(run->memory_asked_mib) && started >= *memory_asked_at) {
		group->memory_asked_mib = run->memory_asked_mib;
		*memory_asked_at = started;
	}
	if (!(run->oom_had_mib <= group->oom_had_mib) && !isnan(run->oom_had_mib))
		group->oom_had_mib = run->oom_had_mib;
}

static int compute_group(const struct fleet *fleet, struct fleet_group *group)
{
	CLEANUP_FREE struct fleet_run *jobs = NULL;
	CLEANUP_FREE double *values = NULL;
	struct group_runs runs = {.fleet = fleet, .group = group};
	double cores_asked_at = -INFINITY, memory_asked_at = -INFINITY;
	struct fleet_run run;

	if (find_jobs(fleet, group, &jobs, &runs.job_count) < 0)
		return -ENOMEM;
	runs.jobs = jobs;
	group->cores_asked = group->memory_asked_mib = group->oom_had_mib = NAN;
	start_again(&runs);
	while (next_run(&runs, &run)) {
		group->runs++;
		group->ends[run.end]++;
		group->reasons[run.reason]++;
		group->at_limit += run.at_limit && run.end == FLEET_OK;
		add_run_use(group, &run, &cores_asked_at, &memory_asked_at);
	}
	values = calloc(group->runs + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
#define FLEET(field, figure, joined, drift) \
	compute_figure(&runs, offsetof(struct fleet_run, field), values, &group->field, drift);
#include "figures/run_figures.def"
	return 0;
}

static double group_cost(const struct fleet_group *group)
{
	return group->unused_core_hours + group->unused_gib_hours / GIB_PER_CORE +
	       group->unused_gpu_hours * CORES_PER_GPU;
}

static int by_cost(const void *a, const void *b)
{
	const struct fleet_group *one = a, *other = b;
	double cost = group_cost(one), other_cost = group_cost(other);

	if (cost != other_cost)
		return cost > other_cost ? -1 : 1;
	if (one->runs != other->runs)
		return one->runs > other->runs ? -1 : 1;
	return strcmp(one->key, other->key);
}

int fleet_finish(struct fleet *fleet)
{
	size_t kept = 0;

	for (size_t i = 0; i < fleet->group_count; i++) {
		if (compute_group(fleet, &fleet->groups[i]) < 0)
			return -ENOMEM;
		packed_runs_done(&fleet->groups[i].lines);
		fleet->runs += fleet->groups[i].runs;
	}
	/* A group is empty if a later line of its only run has another name. */
	for (size_t i = 0; i < fleet->group_count; i++) {
		if (fleet->groups[i].runs)
			fleet->groups[kept++] = fleet->groups[i];
		else
			free(fleet->groups[i].key);
	}
	fleet->group_count = kept;
	if (kept)
		qsort(fleet->groups, kept, sizeof(*fleet->groups), by_cost);
	return 0;
}
