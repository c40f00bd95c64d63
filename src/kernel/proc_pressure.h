/* /proc/pressure/{cpu,memory,io} and a cgroup's {cpu,memory,io}.pressure: time lost waiting (Linux 4.20). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* Since boot, or since the cgroup was made. -1: the kernel has no such line. */
struct proc_pressure {
	int64_t some_usec; /* at least one task waited */
	int64_t full_usec; /* every task that could have run was stalled; meaningless for the machine's CPU */
};

/* Returns 0, or -EBADMSG if no line is known (ret_pressure is then untouched). */
int parse_proc_pressure(const char *bytes, size_t length, struct proc_pressure *ret_pressure);

/*
 * KEPT_FILE("proc/pressure/memory"), or a file of a cgroup's folder ("memory.pressure"). -ENOENT without
 * CONFIG_PSI, -EOPNOTSUPP where it is switched off at boot or for this cgroup.
 */
int read_proc_pressure(struct root *root, struct kept_file *file, struct proc_pressure *ret_pressure);
int read_cgroup_pressure(struct root *root, int dir_fd, const char *file, struct proc_pressure *ret_pressure);
