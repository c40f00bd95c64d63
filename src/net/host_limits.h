/*
 * What a process here may use of the machine: host_vcpus and host_memory_mib are the machine's own, whatever a container
 * may use of it. Found out by the recorder, as for its samples.
 */
#pragma once

#include "base/json_write.h"
#include "metric/absent.h"

struct host_limits {
	double cpu_limit_cores; /* absent: none, as the next */
	double memory_limit_mib;
	int64_t cpuset_cores;
};

/* Takes some milliseconds; what cannot be found out is absent. */
void host_limits_discover(const char *root_dir, struct host_limits *ret_limits);

/* An object; a limit that is not there is null. */
void host_limits_write(struct json_writer *json, const struct host_limits *limits);
