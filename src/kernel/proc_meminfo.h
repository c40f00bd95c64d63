/* /proc/meminfo: the machine's memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* KiB as the kernel reports, or -1 if this kernel lacks the line. */
struct proc_meminfo {
	int64_t total_kib;
	int64_t free_kib;
	int64_t available_kib; /* since Linux 3.14 */
	int64_t buffers_kib;
	int64_t cached_kib;
	int64_t active_kib;
	int64_t inactive_kib;
	int64_t active_anon_kib; /* since Linux 2.6.28, like the next */
	int64_t inactive_anon_kib;
	int64_t swap_total_kib;
	int64_t swap_free_kib;
	int64_t anon_pages_kib; /* in page tables, like the next */
	int64_t mapped_kib;     /* files and shared memory */
	int64_t shmem_kib;
	int64_t shmem_huge_kib; /* in huge pages, since Linux 4.8 */
	int64_t slab_reclaimable_kib;
	int64_t huge_pages_total; /* reserved for hugetlb, of the usual size */
	int64_t huge_pages_free;
	int64_t huge_page_kib;
	int64_t hugetlb_kib; /* of all sizes, used or not, since Linux 4.15 */
};

/* Returns 0, or -EBADMSG if no line is known (ret_meminfo is then untouched). */
int parse_proc_meminfo(const char *bytes, size_t length, struct proc_meminfo *ret_meminfo);
int read_proc_meminfo(struct root *root, struct kept_file *file, struct proc_meminfo *ret_meminfo);
