/*
 * Finds the processes that share the job's memory cgroup. Its OOM kills belong to the job if no other process
 * was seen there that could have been killed. In a container or a scheduler's step the tracker itself is
 * there, and often the shell that started it. Both are known to live: the tracker because it still works, its
 * parents because they are still in the cgroup.
 *
 * Reads cgroup.procs and, for unknown processes, /proc/PID/stat.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"
#include "job/tree/process_tree.h"

enum { TENANT_PARENTS_MOST = 8 };

struct cgroup_tenants {
	uint64_t id; /* identifies the folder, 0 for none */
	bool others; /* another job's process was seen, or may have been there unseen */
	bool looked; /* at least once while a member was there */
	pid_t parents
		[TENANT_PARENTS_MOST]; /* ancestors of the tracker seen there: none may be missing later */
	size_t parent_count;
	int64_t next_ns;
};

/*
 * The viewer. A tracker in a process of its own knows that its children are helpers. In another program they
 * are strangers.
 */
struct tenants_viewer {
	const struct process_tree *tree; /* NULL: only find the id */
	bool in_program;                 /* the tracker is part of a program */
};

/*
 * Looks into `folder` (-1: none), at most once a second unless `now`. A look costs 0.3 us per process, and
 * nothing once a stranger was seen.
 */
void cgroup_tenants_look(struct cgroup_tenants *tenants, const struct tenants_viewer *viewer, int folder,
			 bool now);

/* Whether no stranger was seen in any look. */
static inline bool cgroup_tenants_only_tree(const struct cgroup_tenants *tenants)
{
	return tenants->looked && !tenants->others;
}
