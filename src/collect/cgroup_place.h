/*
 * Finds the files of a process's cgroup: version 1, version 2, or both (hybrid).
 *
 * /proc/PID/cgroup names a path in each hierarchy. /proc/self/mountinfo says where hierarchies are mounted,
 * and which part of them. A container without a cgroup namespace sees the host's path, but has only its own
 * folder mounted. With a namespace it sees "/". The folders from the process's own up to the mount's root
 * stay open, because the smallest limit of all of them applies.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

enum { CGROUP_DEPTH_MOST = 16 };

enum cgroup_hierarchy {
	CGROUP_UNIFIED, /* version 2, with or without controllers */
	CGROUP_CPU,     /* version 1 from here */
	CGROUP_CPUACCT,
	CGROUP_MEMORY,
	CGROUP_CPUSET,
	CGROUP_BLKIO,
	CGROUP_PIDS,
	CGROUP_HIERARCHIES
};

/* Where a hierarchy is mounted. Read once, because hosts do not move them. */
struct cgroup_mount {
	char *point; /* NULL: not mounted */
	char *root;  /* the mounted part of the hierarchy */
};

struct cgroup_mounts {
	bool known;
	struct cgroup_mount of[CGROUP_HIERARCHIES];
	char *own;     /* our own /proc/PID/cgroup. NULL: not read yet */
	pid_t file_of; /* the process whose /proc/PID/cgroup stays open, 0 for none */
	char path[32];
	struct kept_file file;
	int64_t own_read_ns;
};

void cgroup_mounts_done(struct cgroup_mounts *mounts);

struct cgroup_chain {
	int folders[CGROUP_DEPTH_MOST]; /* descriptors, the process's own folder first */
	int depth;                      /* 0: no such hierarchy */
	bool complete;                  /* the last folder is the root of the hierarchy as mounted */
	bool own_missing; /* the process's own folder was removed; the first one is an ancestor's */
};

struct cgroup_place {
	struct cgroup_chain chains[CGROUP_HIERARCHIES];
	uint64_t memberships_hash; /* of /proc/PID/cgroup: changes when the process is moved */
	bool only_unified;         /* set by the caller: the other hierarchies are left out */
};

#define CGROUP_PLACE ((struct cgroup_place){.memberships_hash = 0})

/*
 * Finds the place of a process (0: our own). If the process has not been moved, `place` stays unchanged.
 * Returns 1 if the place is new, 0 if it is the same, or a negative errno.
 */
int cgroup_place_find(struct cgroup_place *place, struct cgroup_mounts *mounts, struct root *root, pid_t pid);
void cgroup_place_close(struct cgroup_place *place);

/* The process's own folder in a hierarchy, or -1. */
static inline int cgroup_place_own(const struct cgroup_place *place, enum cgroup_hierarchy hierarchy)
{
	const struct cgroup_chain *chain = &place->chains[hierarchy];

	return chain->depth && !chain->own_missing ? chain->folders[0] : -1;
}

/* Whether the process is in the root of a hierarchy. That folder describes the whole machine. */
static inline bool cgroup_place_is_root(const struct cgroup_place *place, enum cgroup_hierarchy hierarchy)
{
	return place->chains[hierarchy].depth <= 1 && place->chains[hierarchy].complete;
}
