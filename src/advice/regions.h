/*
 * Computes what each phase of a run used: gpu_tracker's analysis, of its files and of ours.
 *
 * A sample belongs to a phase if its time stamp is between start and stop of one of its calls, ends included.
 * Standard deviations are those of the population.
 */
#pragma once

#include "advice/phases.h"

enum region_statistic { REGION_MIN, REGION_MAX, REGION_MEAN, REGION_STD, REGION_TOTAL, REGION_STATISTICS };

struct region {
	char *name;
	int64_t timepoints, calls, non_empty_calls;
	double seconds[REGION_STATISTICS]; /* of its calls */
	double (*measures)[REGION_TOTAL];  /* per measure; NaN: no sample has it */
};

struct rt_regions {
	size_t measure_count;
	char **measures;
	double (*overall)[REGION_TOTAL];
	struct region *list;
	size_t count;
	rt_table *facts; /* one row of constants */
	size_t samples;
	double earliest, latest; /* of the run, in seconds since 1970 */
	struct phases phases;
};
