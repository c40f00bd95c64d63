/*
 * How often a CPU quota held the job back. A quota may be set on any ancestor of the job's cgroup, and the kernel counts
 * the periods where it is set: job in /pod/container, quota on /pod: /pod/cpu.stat has nr_throttled 11, the job's own has 0.
 */
#pragma once

#include <stdbool.h>

#include "collect/cgroup_place.h"

struct throttling_count {
	int64_t periods, ns; /* -1: unknown */
};

struct cgroup_throttling {
	enum cgroup_hierarchy hierarchy;
	int binding; /* index in the chain of the cgroup whose quota is the least; 0, the job's own, without any */
	struct throttling_count seen[CGROUP_DEPTH_MOST]; /* last reading of each */
	struct throttling_count sum;                     /* since the run began; -1: unknown */
};

/* Reads all counters of a new place: what they say now was before the job. */
void cgroup_throttling_begin(struct cgroup_throttling *throttling, struct root *root,
			     const struct cgroup_place *place);
/* The least quota in cores over the job's cgroup and its ancestors; absent: there is none. */
double cgroup_throttling_find_quota(struct cgroup_throttling *throttling, struct root *root,
				    const struct cgroup_place *place);
/* Reads the cgroup that binds. One read. */
void cgroup_throttling_read(struct cgroup_throttling *throttling, struct root *root,
			    const struct cgroup_place *place);
