/* /proc/PID/cgroup: in which cgroup of every hierarchy a process is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/scan.h"
#include "kernel/root.h"

/*
 * Text points into the parsed bytes. A path is relative to the root of the reader's cgroup namespace and
 * begins with "/.." when the process is outside of it. It may hold colons.
 */
struct cgroup_membership {
	int64_t hierarchy;       /* 0: the unified one (v2) */
	struct scan controllers; /* "cpu,cpuacct", "name=systemd", or empty for v2 */
	struct scan path;
	struct scan whole_path; /* the " (deleted)" at the end was cut off; it may be part of the name */
	bool deleted; /* the folder was removed, unless its name ends like that; it still counts the process */
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan lines = parse_proc_pid_cgroup(bytes, length);
 *   while (proc_pid_cgroup_next(&lines, &membership))
 */
struct scan parse_proc_pid_cgroup(const char *bytes, size_t length);
/* ret_lines points into root->text: valid until the next read. Returns 0 or a negative errno. */
int read_proc_pid_cgroup(struct root *root, pid_t pid, struct scan *ret_lines);

/* Returns the next line. Invalid lines are skipped. */
bool proc_pid_cgroup_next(struct scan *lines, struct cgroup_membership *ret_membership);

/*
 * The membership in the hierarchy with a controller ("memory"), or in the unified one (NULL). The search begins
 * at lines, which stays unchanged.
 */
bool proc_pid_cgroup_find(struct scan lines, const char *controller,
			  struct cgroup_membership *ret_membership);
