/* /proc/vmstat: counts of the memory management. Only a few are used here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* Since boot, or -1 where this kernel has no such line. */
struct proc_vmstat {
	int64_t oom_kills; /* processes killed for lack of memory, cgroup limits included; Linux 4.13 */
};

/* Returns 0, or -EBADMSG if no line is known (ret_vmstat is then untouched). */
int parse_proc_vmstat(const char *bytes, size_t length, struct proc_vmstat *ret_vmstat);
/* `file` is KEPT_FILE("proc/vmstat"). */
int read_proc_vmstat(struct root *root, struct kept_file *file, struct proc_vmstat *ret_vmstat);
/*
 * By the text that `root` has read last: the pages that were allocated in all zones for whatever purpose since boot, without those of
 * hugetlb. 0: unknown.
 */
int64_t proc_vmstat_allocated_pages(const struct root *root);
