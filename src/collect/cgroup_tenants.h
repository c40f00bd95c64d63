/*
 * Which processes share the job's memory cgroup. Its kills for lack of memory are the job's when no other process was
 * seen in it that could have been the one killed. In a container or a scheduler's step the tracker itself is in there,
 * and often the shell that started it: these are known to live, the tracker because it still works, its parents because
 * they are still in the cgroup. Reads cgroup.procs and, for processes that are not known yet, /proc/PID/stat.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"
#include "process/process_tree.h"

enum { TENANT_PARENTS_MOST = 8 };

struct cgroup_tenants {
	uint64_t id;                        /* of the folder, by which it is known again; 0: there is none */
	bool others;                        /* a process of others was seen, or may have been there unseen */
	bool looked;                        /* at least once, with a member in there */
	pid_t parents[TENANT_PARENTS_MOST]; /* of the tracker, seen in there: none may be missing later */
	size_t parent_count;
	int64_t next_ns;
};

/* Who looks: a program of its own knows its children for helpers; those of any other program are strangers. */
struct tenants_viewer {
	const struct process_tree *tree; /* NULL: only the id is found */
	bool in_program;                 /* the tracker is a part of a program */
};

/*
 * Looks into `folder` (-1: there is none), at most once a second unless `now`. A look costs 0.3 us a process, and
 * nothing any more once a stranger was seen.
 */
void cgroup_tenants_look(struct cgroup_tenants *tenants, const struct tenants_viewer *viewer, int folder,
			 bool now);

/* No stranger has been in there, as far as was looked. */
static inline bool cgroup_tenants_only_tree(const struct cgroup_tenants *tenants)
{
	return tenants->looked && !tenants->others;
}
