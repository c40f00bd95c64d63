/*
 * Computes what each phase of a run used. sample_shares.h has the rule for our recordings.
 *
 * gpu_tracker's files tell of moments only: a sample belongs to a phase if its time stamp is between start and stop of one
 * of its calls, ends included. Standard deviations are those of the population.
 */
#pragma once

#include "regions/sample_shares.h"
#include "resource_tracker_internal.h"

struct region {
	char *name;
	int64_t timepoints, calls, non_empty_calls;
	double began;                      /* its first call. Infinite: it has none */
	double seconds[REGION_STATISTICS]; /* of its calls */
	/* Per measure. NaN: no sample has it. The total is NaN for moments, and level x seconds for levels. */
	double (*measures)[REGION_STATISTICS];
	/* Per measure, the least and most of its calls: of their totals, or of their maxima for moments. */
	double (*each)[2];
};

struct rt_regions {
	size_t measure_count;
	char **measures;
	bool recorded;   /* a recording of ours: its measures have totals as well */
	bool of_machine; /* no process was tracked */
	bool marked;     /* there is a file of marks, perhaps with none in the time of the samples */
	enum measure_holds *holds;
	double (*overall)[REGION_STATISTICS];
	struct region *list;
	size_t count;
	rt_table *facts; /* one row of constants */
	size_t samples;
	double peak_mib, sampled_mib; /* of the run's memory, as in its summary, NaN if unknown */
	double earliest, latest;      /* of the run, in seconds since 1970 */
	struct phases phases;
};

static inline void cleanup_run_regions(rt_regions **regions)
{
	rt_regions_free(*regions);
}
#define CLEANUP_REGIONS __attribute__((cleanup(cleanup_run_regions)))

/* As rt_regions_read(), of a recording whose summary is known. */
int regions_of_summary(const char *const *paths, size_t path_count, const rt_summary *summary,
		       const char *marks, const char *const *columns, size_t column_count,
		       rt_regions **ret_regions, struct rt_problem *problem);
