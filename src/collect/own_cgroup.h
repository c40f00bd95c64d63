/*
 * A cgroup for the job alone, in the unified hierarchy (version 2, or the unified half of a hybrid host).
 *
 * It counts, to the microsecond, even processes whose parent ignores SIGCHLD and processes that leave the
 * tree. If the memory controller is on, its peak and its OOM kills are the job's alone. The job is started in
 * it (clone3 with CLONE_INTO_CGROUP). Processes are never moved into it. At the end, processes that still run
 * in it are moved back to the cgroup in which the job would have been, and it is removed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "collect/cgroup_place.h"
#include "kernel/root.h"

enum own_cgroup_mode { OWN_CGROUP_AUTO, OWN_CGROUP_OFF, OWN_CGROUP_REQUIRE };

struct own_cgroup {
	int folder;    /* -1: none */
	int parent;    /* the folder that contains it */
	char name[64]; /* in the parent */
	bool used;     /* the job was started in it */
	bool has_memory;
};

#define OWN_CGROUP ((struct own_cgroup){.folder = -1, .parent = -1})

/*
 * Makes it beside the calling process. AUTO refuses if an ancestor has a CPU or memory limit, because some
 * runtimes (Go, older JVMs) look for limits in their own folder only. REQUIRE also enables the controllers
 * (cgroup.subtree_control), which AUTO never does. Returns 0 or a negative errno: -EOPNOTSUPP without a
 * unified hierarchy, -EBUSY under a limit, -EACCES, -EROFS, ...
 */
int own_cgroup_make(struct own_cgroup *own, struct cgroup_mounts *mounts, struct root *root,
		    enum own_cgroup_mode mode);

/*
 * Moves the remaining processes out and removes the cgroup. `sweeps`: also removes empty ones that killed trackers left
 * behind.
 */
void own_cgroup_remove(struct own_cgroup *own, struct root *root, bool sweeps);
