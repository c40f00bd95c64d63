/*
 * The units of gpu_tracker: decimal sizes and times by name, "gigabytes" and "hours" unless said otherwise.
 */
#pragma once

#include "record/problem.h"

struct gpu_tracker_unit {
	const char *name;
	double factor; /* of bytes, or of seconds */
};

struct gpu_tracker_units {
	struct gpu_tracker_unit ram, gpu_ram, time;
};

/* -EINVAL: no such unit; the problem lists them. */
int gpu_tracker_units_find(const struct rt_gpu_tracker_options *options, struct gpu_tracker_units *ret_units,
			   struct rt_problem *problem);
