/*
 * The files of a cgroup in the hierarchies of version 1, one hierarchy for each controller or pair of them.
 *
 * dir_fd is the cgroup's folder in the hierarchy of the controller that a file's name begins with. A file
 * that is not there gives -ENOENT, a field that a file lacks -1. Parsers return 0, or -EBADMSG when nothing
 * is known (the result is then untouched). cgroup.procs is read by read_cgroup_procs() of kernel/cgroup_v2.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/cgroup_limit.h"
#include "kernel/root.h"

/* cpuacct.usage: CPU time of the cgroup and all below it, the exited included. */
int read_cgroup_v1_cpuacct_usage(struct root *root, int dir_fd, int64_t *ret_usage_ns);

/* cpu.stat */
struct cgroup_v1_cpu_stat {
	int64_t period_count; /* in which it wanted to run */
	int64_t throttled_count;
	int64_t throttled_ns; /* summed over CPUs: may exceed wall time */
};

int parse_cgroup_v1_cpu_stat(const char *bytes, size_t length, struct cgroup_v1_cpu_stat *ret_stat);
int read_cgroup_v1_cpu_stat(struct root *root, int dir_fd, struct cgroup_v1_cpu_stat *ret_stat);

/*
 * Files of one number, of which -1, or anything within a page of what 64 bits hold, means CGROUP_NO_LIMIT:
 * cpu.cfs_quota_us, memory.limit_in_bytes, memory.memsw.limit_in_bytes. The others are plain numbers:
 * cpu.cfs_period_us, memory.usage_in_bytes, memory.max_usage_in_bytes, memory.kmem.usage_in_bytes.
 */
int parse_cgroup_v1_limit(const char *bytes, size_t length, int64_t *ret_limit);
int read_cgroup_v1_limit(struct root *root, int dir_fd, const char *file, int64_t *ret_limit);

/* memory.stat: a limit, and of the lines total_*, bytes of the cgroup and all below it. -1: the line is missing. */
struct cgroup_v1_memory_stat {
	int64_t limit_bytes; /* hierarchical: the lowest of this cgroup's and all above it, or CGROUP_NO_LIMIT */
	int64_t cache_bytes;   /* page cache, shmem included */
	int64_t rss_bytes;     /* anonymous memory */
	int64_t shmem_bytes;   /* since Linux 4.9 */
	int64_t file_refaults; /* pages, since Linux 5.9 */
	int64_t anon_refaults; /* read from swap again, soon after they were swapped out, since Linux 5.9 */
};

int parse_cgroup_v1_memory_stat(const char *bytes, size_t length, struct cgroup_v1_memory_stat *ret_stat);
int read_cgroup_v1_memory_stat(struct root *root, int dir_fd, struct cgroup_v1_memory_stat *ret_stat);

/* A line of blkio.throttle.io_service_bytes (bytes) and blkio.throttle.io_serviced (requests), or of *_recursive. */
struct cgroup_v1_blkio {
	uint32_t major, minor;
	bool is_write;
	int64_t value; /* since the cgroup was made; writes that went through the page cache are in the root's */
};

/* An iteration like that over io.stat. Other operations (Sync, Total, ...) are left out. */
int read_cgroup_v1_blkio(struct root *root, int dir_fd, const char *file, struct scan *ret_lines);
bool cgroup_v1_blkio_next(struct scan *lines, struct cgroup_v1_blkio *ret_blkio);

/* memory.oom_control */
struct cgroup_v1_oom_control {
	int64_t kill_disabled;
	int64_t under_oom;
	int64_t oom_kills; /* in this cgroup alone, since Linux 4.13 */
};

int parse_cgroup_v1_oom_control(const char *bytes, size_t length, struct cgroup_v1_oom_control *ret_control);
int read_cgroup_v1_oom_control(struct root *root, int dir_fd, struct cgroup_v1_oom_control *ret_control);
