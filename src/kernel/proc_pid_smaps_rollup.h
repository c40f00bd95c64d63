/*
 * /proc/PID/smaps_rollup: the resident memory of one process, with shared pages divided by their users.
 *
 * Since Linux 4.14. Reading it holds the
 * memory map of that process locked for as long as it takes to walk its page tables: 11-14 ms per GiB.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/* KiB, or -1 where this kernel has no such line. */
struct proc_pid_smaps_rollup {
	int64_t rss_kib;
	int64_t pss_kib; /* every page divided by the number of processes that map it */
	int64_t pss_anon_kib;
	int64_t pss_file_kib;
	int64_t pss_shmem_kib;
	int64_t shared_clean_kib;
	int64_t shared_dirty_kib;
	int64_t private_clean_kib;
	int64_t private_dirty_kib;
	int64_t anonymous_kib; /* resident, exclusive or not */
	int64_t anon_huge_kib;
	int64_t shmem_huge_kib;
	int64_t file_huge_kib;
	int64_t shared_hugetlb_kib; /* in neither rss nor pss */
	int64_t private_hugetlb_kib;
	int64_t swap_kib;
	int64_t swap_pss_kib;
};

/*
 * Takes the text of smaps_rollup, and adds up lines of one name. Returns 0, or -EBADMSG when not
 * one line is known (ret_rollup is then untouched).
 */
int parse_proc_pid_smaps_rollup(const char *bytes, size_t length, struct proc_pid_smaps_rollup *ret_rollup);

/* -ESRCH for a zombie, -EACCES for another user's process, -ENOENT before Linux 4.14. */
int read_proc_pid_smaps_rollup(struct root *root, pid_t pid, struct proc_pid_smaps_rollup *ret_rollup);
