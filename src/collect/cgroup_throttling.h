/*
 * Counts how often a CPU quota stopped the job. Any ancestor of the job's cgroup may have a quota, and the
 * kernel counts the periods in the cgroup with the quota. Example: the job is in /pod/container, the quota on
 * /pod. /pod/cpu.stat has nr_throttled 11, the job's own file has 0.
 */
#pragma once

#include <stdbool.h>

#include "collect/cgroup_place.h"

struct throttling_count {
	int64_t periods, ns; /* -1: unknown */
};

struct cgroup_throttling {
	enum cgroup_hierarchy hierarchy;
	int binding; /* index in the chain of the smallest quota; 0 (the job's own) without quota */
	struct throttling_count seen[CGROUP_DEPTH_MOST]; /* last reading of each */
	struct throttling_count sum;                     /* since the run began, -1 if unknown */
};

/* Reads all counters of a new place: their values are from before the job. */
void cgroup_throttling_begin(struct cgroup_throttling *throttling, struct root *root,
			     const struct cgroup_place *place);
/* The smallest quota, in cores, of the job's cgroup and its ancestors. Absent: no quota. */
double cgroup_throttling_find_quota(struct cgroup_throttling *throttling, struct root *root,
				    const struct cgroup_place *place);
/* Reads the counters of the cgroup with the smallest quota. One read. */
void cgroup_throttling_read(struct cgroup_throttling *throttling, struct root *root,
			    const struct cgroup_place *place);
