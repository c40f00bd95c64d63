/* Computes the figures of groups of runs; see fleet.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "history/fleet.h"

static const double P50 = 0.5, P95 = 0.95, HOUR_SECS = 3600, MIB_PER_GIB = 1024;
/* In the order of groups, a core hour counts as much as this many GiB hours. */
static const double GIB_PER_CORE = 4;
/* The standard error of a median is about this times the median distance from it, by the root of the count. */
static const double ERROR_OF_MEDIAN = 1.253 * 1.4826, ERRORS_APART = 3, LEAST_CHANGE = 0.1;
enum { NEW_LEAST = 5, NEW_MOST = 50, OLD_MOST = 200 };

static int by_size(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Groups together, each from its oldest run to its newest; a run without a start time is the oldest. */
static int by_group(const void *a, const void *b)
{
	const struct fleet_run *one = a, *other = b;
	double started = isnan(one->started) ? -INFINITY : one->started;
	double other_started = isnan(other->started) ? -INFINITY : other->started;

	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	return (started > other_started) - (started < other_started);
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
	qsort(values, count, sizeof(*values), by_size);
	return quantile_of(values, count, P50);
}

/* Sorts the values. */
static struct fleet_range range_of(double *values, size_t count)
{
	if (!count)
		return (struct fleet_range){NAN, NAN, NAN};
	qsort(values, count, sizeof(*values), by_size);
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

/*
 * Compares the newest quarter of the runs (5 to 50 of them) with up to 200 runs before it. `values` are in the order of
 * time, `copy` has as much room.
 */
static struct fleet_drift drift_of(const double *values, size_t count, double *copy)
{
	size_t fresh = count / 4 < NEW_LEAST ? NEW_LEAST : count / 4 > NEW_MOST ? NEW_MOST : count / 4;
	size_t old = count > fresh ? count - fresh : 0;
	struct fleet_drift drift = {.change = NAN};
	double before, after, error_before, error_after;

	old = old > OLD_MOST ? OLD_MOST : old;
	if (old < NEW_LEAST)
		return drift;
	memcpy(copy, values + count - fresh - old, (fresh + old) * sizeof(*copy));
	before = median_with_error(copy, old, &error_before);
	after = median_with_error(copy + old, fresh, &error_after);
	if (!(before > 0))
		return drift;
	drift = (struct fleet_drift){after / before - 1, fresh, old, false};
	drift.is_clear = fabs(drift.change) >= LEAST_CHANGE &&
			 fabs(after - before) > ERRORS_APART * hypot(error_before, error_after);
	return drift;
}

static double run_figure(const struct fleet_run *run, size_t offset)
{
	double value;

	memcpy(&value, (const char *)run + offset, sizeof(value));
	return value;
}

/* The known values of the runs that ended well. */
static size_t pick_figures(const struct fleet_run *runs, size_t count, size_t offset, double *ret_values)
{
	size_t picked = 0;

	for (size_t i = 0; i < count; i++) {
		double value = run_figure(&runs[i], offset);

		if (runs[i].end == FLEET_OK && !isnan(value))
			ret_values[picked++] = value;
	}
	return picked;
}

static void add_use(struct fleet_group *group, const struct fleet_run *run)
{
	double hours = run->wall_secs / HOUR_SECS, core_hours = run->cpu_secs / HOUR_SECS;
	double cores = (run->cores_asked - run->cores) * hours;
	double gib = (run->memory_asked_mib - run->memory_mib) / MIB_PER_GIB * hours;

	group->core_hours += isnan(core_hours) ? 0 : core_hours;
	group->failed_core_hours += isnan(core_hours) || run->end != FLEET_FAILED ? 0 : core_hours;
	group->unused_core_hours += cores > 0 ? cores : 0;
	group->unused_gib_hours += gib > 0 ? gib : 0;
	group->core_runs += isnan(cores) ? 0 : 1;
	group->memory_runs += isnan(gib) ? 0 : 1;
	if (!isnan(run->cores_asked))
		group->cores_asked = run->cores_asked;
	if (!isnan(run->memory_asked_mib))
		group->memory_asked_mib = run->memory_asked_mib;
	if (!(run->oom_had_mib <= group->oom_had_mib) && !isnan(run->oom_had_mib))
		group->oom_had_mib = run->oom_had_mib;
}

/* `values` has room for twice as many numbers as there are runs. */
static void compute_group(struct fleet_group *group, const struct fleet_run *runs, size_t count,
			  double *values)
{
	size_t picked;

	group->runs = count;
	group->cores_asked = group->memory_asked_mib = group->oom_had_mib = NAN;
	for (size_t i = 0; i < count; i++) {
		group->ends[runs[i].end]++;
		group->reasons[runs[i].reason]++;
		group->at_limit += runs[i].at_limit && runs[i].end == FLEET_OK;
		add_use(group, &runs[i]);
	}
	picked = pick_figures(runs, count, offsetof(struct fleet_run, wall_secs), values);
	group->wall_drift = drift_of(values, picked, values + count);
	group->wall_secs = range_of(values, picked);
	picked = pick_figures(runs, count, offsetof(struct fleet_run, memory_mib), values);
	group->memory_drift = drift_of(values, picked, values + count);
	group->memory_mib = range_of(values, picked);
	picked = pick_figures(runs, count, offsetof(struct fleet_run, cpu_secs), values);
	group->cpu_secs = range_of(values, picked);
	picked = pick_figures(runs, count, offsetof(struct fleet_run, cores), values);
	group->cores = range_of(values, picked);
}

static double cost_of(const struct fleet_group *group)
{
	return group->unused_core_hours + group->unused_gib_hours / GIB_PER_CORE;
}

static int by_cost(const void *a, const void *b)
{
	const struct fleet_group *one = a, *other = b;
	double cost = cost_of(one), other_cost = cost_of(other);

	if (cost != other_cost)
		return cost > other_cost ? -1 : 1;
	if (one->runs != other->runs)
		return one->runs > other->runs ? -1 : 1;
	return strcmp(one->key, other->key);
}

int fleet_finish(struct fleet *fleet)
{
	CLEANUP_FREE double *values = calloc(2 * fleet->count + 1, sizeof(*values));
	size_t kept = 0;

	if (!values)
		return -ENOMEM;
	if (fleet->count)
		qsort(fleet->runs, fleet->count, sizeof(*fleet->runs), by_group);
	for (size_t first = 0; first < fleet->count;) {
		uint32_t number = fleet->runs[first].group;
		size_t count = 1;

		while (first + count < fleet->count && fleet->runs[first + count].group == number)
			count++;
		compute_group(&fleet->groups[number], fleet->runs + first, count, values);
		first += count;
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
