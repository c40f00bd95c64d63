/* /proc/PID/status: fields that the cheaper files of a process lack. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/* The kernel nests PID namespaces at most this deep. */
enum { NAMESPACE_PIDS_MAX = 33 };

/* -1 absent: memory lines are missing for zombies and kernel threads, others on old kernels. */
struct proc_pid_status {
	int64_t tgid;
	int64_t parent_pid;
	int64_t real_uid;
	int64_t effective_uid;
	/* The process's id in each PID namespace, from the reader's inwards (Linux 4.1). */
	pid_t namespace_pids[NAMESPACE_PIDS_MAX];
	int namespace_pid_count;
	int64_t peak_rss_kib; /* VmHWM: since the last exec */
	int64_t rss_kib;
	int64_t rss_anon_kib; /* the split is known since Linux 4.5 */
	int64_t rss_file_kib;
	int64_t rss_shmem_kib;
	int64_t swap_kib;
	int64_t hugetlb_kib; /* in none of the above, since Linux 4.4 */
	int64_t thread_count;
	int64_t allowed_cpu_count; /* Cpus_allowed_list: affinity within the cpuset */
	/* Context switches of the main thread alone, also of a zombie: it waited, or the scheduler took the CPU away. */
	int64_t voluntary_switches;
	int64_t involuntary_switches;
};

/*
 * The context switches alone, searched from the end: a tenth of the time. Returns 0, or -EBADMSG if they are not among the last
 * lines (the results are then untouched).
 */
int parse_proc_pid_status_switches(const char *bytes, size_t length, int64_t *ret_voluntary,
				   int64_t *ret_involuntary);

/* Returns 0, or -EBADMSG if no line is known (ret_status is then untouched). */
int parse_proc_pid_status(const char *bytes, size_t length, struct proc_pid_status *ret_status);
int read_proc_pid_status(struct root *root, pid_t pid, struct proc_pid_status *ret_status);
