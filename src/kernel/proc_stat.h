/* /proc/stat: CPU time of the machine and of every CPU, and counts since boot. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

/*
 * Ticks of root->clock_ticks per second since boot, or -1 where this kernel has no such column. guest is part of
 * user and guest_nice of nice: do not count them twice. idle and iowait may step back a little.
 */
struct cpu_ticks {
	int64_t user;
	int64_t nice;
	int64_t system;
	int64_t idle;
	int64_t iowait;
	int64_t irq;
	int64_t softirq;
	int64_t steal;
	int64_t guest;
	int64_t guest_nice;
};

/* -1 absent. */
struct proc_stat {
	struct cpu_ticks total;
	int64_t context_switches;
	int64_t boot_time_secs; /* of the realtime clock; moves when that is set */
	int64_t forks;          /* processes and threads */
	int64_t blocked_count;  /* procs_blocked: threads that wait for I/O to end */
	int64_t running_count;  /* procs_running: threads that run or wait for a CPU */
	struct scan cpus;       /* for proc_stat_next_cpu(): points into the parsed text */
};

/* Returns 0, or -EBADMSG if no line is known (ret_stat is then untouched). */
int parse_proc_stat(const char *bytes, size_t length, struct proc_stat *ret_stat);
int read_proc_stat(struct root *root, struct kept_file *file, struct proc_stat *ret_stat);

/*
 * Returns the next online CPU. Ids rise, with gaps where CPUs are offline, and have no upper bound.
 *
 *   for (struct scan cpus = stat.cpus; proc_stat_next_cpu(&cpus, &id, &ticks);)
 */
bool proc_stat_next_cpu(struct scan *cpus, int *ret_id, struct cpu_ticks *ret_ticks);
