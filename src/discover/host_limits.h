/*
 * The limits of a process here: the smallest over all control groups above it. host_vcpus and host_memory_mib are
 * the machine's own, which a container may not use in full. The recorder finds the limits, as it does for its
 * samples.
 */
#pragma once

#include "base/json_write.h"
#include "metric/absent.h"

struct host_limits {
	double cpu_limit_cores; /* absent: no limit, in the next two as well */
	double memory_limit_mib;
	int64_t cpuset_cores;
};

/* Takes some milliseconds. A limit that cannot be read is absent. */
void host_limits_discover(const char *root_dir, struct host_limits *ret_limits);

/* An object, or null without a limit. */
void host_limits_write(struct json_writer *json, const struct host_limits *limits);
