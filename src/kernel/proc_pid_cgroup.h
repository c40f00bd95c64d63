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
 * begins with "/.." when the process is outside of it; it may hold colons.
 */
struct cgroup_membership {
	int64_t hierarchy;       /* 0: the unified one (v2) */
	struct scan controllers; /* "cpu,cpuacct", "name=systemd"; empty for v2 */
	struct scan path;
	struct scan whole_path; /* with the " (deleted)" that was cut off, which may be a part of the name */
	bool deleted; /* the folder was removed, if its name does not end like that; it goes on counting the process */
};

/*
 * Begins an iteration; text stays the caller's.
 *
 *   struct scan lines = parse_proc_pid_cgroup(bytes, length);
 *   while (proc_pid_cgroup_next(&lines, &membership))
 */
struct scan parse_proc_pid_cgroup(const char *bytes, size_t length);
/* ret_lines points into root->text: valid until the next read. Returns 0 or a negative errno. */
int read_proc_pid_cgroup(struct root *root, pid_t pid, struct scan *ret_lines);

/* The next line; lines that are none are skipped. */
bool proc_pid_cgroup_next(struct scan *lines, struct cgroup_membership *ret_membership);

/*
 * The membership in the hierarchy that has a controller ("memory"), or in the unified one (NULL). lines is
 * where the search begins, and stays.
 */
bool proc_pid_cgroup_find(struct scan lines, const char *controller,
			  struct cgroup_membership *ret_membership);
