/*
 * The files of a cgroup in the unified hierarchy (v2).
 *
 * dir_fd is the cgroup's folder. Which files exist depends on the controllers enabled above it, on the
 * kernel, and on whether it is the root (which has no limits): a file that is not there gives -ENOENT, a
 * field that a file lacks -1. Parsers return 0, or -EBADMSG when nothing is known (the result is then
 * untouched).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/cgroup_limit.h"
#include "kernel/root.h"

/* cpu.stat: the cgroup and all below it, the exited included. Throttling only with the cpu controller. */
struct cgroup_v2_cpu_stat {
	int64_t usage_usec;
	int64_t user_usec;
	int64_t system_usec;
	int64_t period_count; /* in which it wanted to run */
	int64_t throttled_count;
	int64_t throttled_usec; /* summed over CPUs: may exceed wall time */
};

int parse_cgroup_v2_cpu_stat(const char *bytes, size_t length, struct cgroup_v2_cpu_stat *ret_stat);
int read_cgroup_v2_cpu_stat(struct root *root, int dir_fd, struct cgroup_v2_cpu_stat *ret_stat);
/* The same with a file that stays open in `fd` (-1: not open yet). No folder (-1) has none. */
int reread_cgroup_v2_cpu_stat(struct root *root, int dir_fd, int *fd, struct cgroup_v2_cpu_stat *ret_stat);

/* cpu.max: quota_usec of CPU time in every period_usec of wall time. */
struct cgroup_v2_cpu_max {
	int64_t quota_usec; /* or CGROUP_NO_LIMIT */
	int64_t period_usec;
};

int parse_cgroup_v2_cpu_max(const char *bytes, size_t length, struct cgroup_v2_cpu_max *ret_max);
int read_cgroup_v2_cpu_max(struct root *root, int dir_fd, struct cgroup_v2_cpu_max *ret_max);

/* Files of one number or "max" (CGROUP_NO_LIMIT): memory.max, memory.high, memory.swap.max, pids.max. */
int parse_cgroup_v2_limit(const char *bytes, size_t length, int64_t *ret_limit);
int read_cgroup_v2_limit(struct root *root, int dir_fd, const char *file, int64_t *ret_limit);

/* memory.stat, bytes of the cgroup and all below it. */
struct cgroup_v2_memory_stat {
	int64_t anon_bytes;
	int64_t file_bytes;   /* page cache, shmem included */
	int64_t kernel_bytes; /* since Linux 5.18; before, the five parts that follow */
	int64_t kernel_stack_bytes;
	int64_t pagetables_bytes;
	int64_t percpu_bytes;
	int64_t sock_bytes;
	int64_t slab_bytes;
	int64_t shmem_bytes;
	int64_t file_refaults; /* pages, since Linux 5.9 */
	int64_t anon_refaults; /* read from swap again, soon after they were swapped out, since Linux 5.9 */
};

int parse_cgroup_v2_memory_stat(const char *bytes, size_t length, struct cgroup_v2_memory_stat *ret_stat);
int read_cgroup_v2_memory_stat(struct root *root, int dir_fd, struct cgroup_v2_memory_stat *ret_stat);
/* The line "kernel". Before Linux 5.18, which lacks it, the sum of its parts at that time, -1 if unknown. */
int64_t cgroup_v2_kernel_bytes(const struct cgroup_v2_memory_stat *stat);

/* memory.events (all below included) and memory.events.local (since Linux 5.2; this cgroup alone): counts. */
struct cgroup_v2_memory_events {
	int64_t low;
	int64_t high;
	int64_t max;
	int64_t oom;
	int64_t oom_kill; /* processes that any OOM killer has killed, the machine's included */
	int64_t oom_group_kill;
};

int parse_cgroup_v2_memory_events(const char *bytes, size_t length,
				  struct cgroup_v2_memory_events *ret_events);
int read_cgroup_v2_memory_events(struct root *root, int dir_fd, const char *file,
				 struct cgroup_v2_memory_events *ret_events);

/* io.stat: one device since the cgroup was made. */
struct cgroup_v2_io {
	uint32_t major;
	uint32_t minor;
	int64_t read_bytes;
	int64_t write_bytes;
	int64_t reads;
	int64_t writes;
};

/* An iteration like that over /proc/diskstats. Devices without I/O may lack numbers or lines. */
struct scan parse_cgroup_v2_io_stat(const char *bytes, size_t length);
int read_cgroup_v2_io_stat(struct root *root, int dir_fd, struct scan *ret_devices);
bool cgroup_v2_io_stat_next(struct scan *devices, struct cgroup_v2_io *ret_io);

/*
 * cgroup.procs, of both versions: for scan_pid() of kernel/pid_list.h. 0 stands for a process that the
 * reader's PID namespace cannot name. -EOPNOTSUPP in a threaded cgroup.
 */
int read_cgroup_procs(struct root *root, int dir_fd, struct scan *ret_pids);
