/*
 * A cgroup of the job's own, in the unified hierarchy (version 2, or the unified half of a hybrid host).
 *
 * In it even processes whose parent ignores SIGCHLD, and those that leave the tree, are counted to the
 * microsecond; where the memory controller is on, its peak and its OOM kills are the job's alone. The job is
 * started in it (clone3 with CLONE_INTO_CGROUP); nothing is ever moved there. It is removed at the end, after
 * whatever still runs in it has been moved back to where the job would have been.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "collect/cgroup_place.h"
#include "kernel/root.h"

enum own_cgroup_mode { OWN_CGROUP_AUTO, OWN_CGROUP_OFF, OWN_CGROUP_REQUIRE };

struct own_cgroup {
	int folder;    /* -1: there is none */
	int parent;    /* the folder that it was made in */
	char name[64]; /* in the parent */
	bool used;     /* the job was started in it */
	bool has_memory;
};

#define OWN_CGROUP ((struct own_cgroup){.folder = -1, .parent = -1})

/*
 * Makes it beside the calling process. In AUTO it stays out of the way where an ancestor has a CPU or memory
 * limit, because runtimes (Go, older JVMs) look for limits in their own folder only. REQUIRE also asks for the
 * controllers (cgroup.subtree_control), which AUTO never touches. Returns 0 or a negative errno: -EOPNOTSUPP
 * without a unified hierarchy, -EBUSY under a limit, -EACCES, -EROFS, ...
 */
int own_cgroup_make(struct own_cgroup *own, struct cgroup_mounts *mounts, struct root *root,
		    enum own_cgroup_mode mode);

/* Moves out who is left and removes it. Empty ones that killed trackers left behind are removed on the way. */
void own_cgroup_remove(struct own_cgroup *own, struct root *root);
