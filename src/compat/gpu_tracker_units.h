/*
 * The units of gpu_tracker: decimal sizes and times by name, by default "gigabytes" and "hours".
 */
#pragma once

#include "record/problem.h"

struct gpu_tracker_unit {
	const char *name;
	double factor; /* in bytes, or in seconds */
};

struct gpu_tracker_units {
	struct gpu_tracker_unit ram, gpu_ram, time;
};

/* Returns -EINVAL for an unknown unit; the problem lists the known ones. */
int gpu_tracker_units_find(const struct rt_gpu_tracker_options *options, struct gpu_tracker_units *ret_units,
			   struct rt_problem *problem);
