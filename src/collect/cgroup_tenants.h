/*
 * Who is in the job's memory cgroup: only then are its kills for lack of memory the job's, when nobody else was seen in
 * there. Reads cgroup.procs and, for processes that are not known yet, /proc/PID/stat.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collect/process_tree.h"
#include "kernel/root.h"

struct cgroup_tenants {
	uint64_t id; /* of the folder, by which it is known again; 0: there is none */
	bool others; /* somebody who is no member of the tree was seen, or may have been there unseen */
	bool looked; /* at least once, with a member in there */
	int64_t next_ns;
};

/*
 * Looks into `folder` (-1: there is none), at most once a second unless `now`. A look costs 0.3 us a process, and
 * nothing any more once somebody else was seen. Without a tree (NULL) only the id is found.
 */
void cgroup_tenants_look(struct cgroup_tenants *tenants, const struct process_tree *tree, int folder,
			 bool now);

/* Nobody but the tree has been in there, as far as was looked. */
static inline bool cgroup_tenants_only_tree(const struct cgroup_tenants *tenants)
{
	return tenants->looked && !tenants->others;
}
