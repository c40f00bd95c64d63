/*
 * The memory that a tree really takes, at every tick, whatever its members share.
 *
 *   anonymous memory    by families of forks (memory_family.h): exact for a process without forks, else sampled
 *   pages of files      once for all members that map them
 *   shared memory       once for each (device, inode), with pages in no page table (memory_objects.h)
 *   huge pages          of hugetlbfs, which are in no resident set
 *
 * Readings must not disturb the job: each holds a process for less than a millisecond (3.5 ms in memory_correct.h). Together they
 * take at most 0.05 % of the time for one process, 0.1 % per member of a tree, and 0.6 % in total, except where new members begin. The
 * members that changed most are read first; what the others may have changed is a part of the error. Between readings,
 * /proc/PID/statm keeps the figures up to date.
 */
#pragma once

#include "job/memory/memory_family.h"
#include "job/memory/memory_objects.h"
#include "job/memory/memory_reading.h"
#include "job/tree/allowance.h"
#include "kernel/proc_meminfo.h"

struct reading_candidate;

/* --pss */
enum pss_mode { PSS_MODE_AUTO, PSS_MODE_ALWAYS, PSS_MODE_OFF };

struct process_memory {
	struct memory_reader reader;
	struct memory_objects objects;
	struct memory_families families;
	struct page_places files; /* scratch */
	struct reading_candidate *candidates;
	size_t candidate_capacity;

	int64_t shared_kib;   /* sum of all members' file and shared memory pages in this tick */
	int64_t late_kib;     /* what members that there was no time to read may have changed */
	size_t members_most;  /* the largest number of members so far */
	double allowance_ns;  /* time that readings may take now */
	int64_t last_ns;      /* when the allowance last grew; 0: never */
	double correction_ns; /* the same of memory_correct.h, and */
	int64_t corrected_ns; /* when that last grew; 0: never */
	enum { FRAMES_UNKNOWN, FRAMES_SEEN, FRAMES_HIDDEN } frames; /* in page maps */
	int ruled_out; /* errno of the root's first failed reading; 0: none */

	struct kept_file meminfo_file;
	struct proc_meminfo machine; /* fields are -1 while unknown */

	struct allowance for_scans;
	size_t scan_next;             /* the member whose descriptors are searched next */
	bool scanning;                /* a search of all members is in progress */
	int64_t scanned_ns;           /* when the last search ended; 0: never */
	int64_t scanned_shmem_kib;    /* the machine's shared memory when it began, and */
	int64_t searched_shmem_kib;   /* the same of the last search that is complete, and */
	int64_t searched_objects_kib; /* all objects that were known at its end */
	int64_t mapped_shmem_kib;     /* when the last search began that included mappings */
	bool scans_mappings;          /* this search does */
	bool scan_is_urgent; /* the machine's shared memory had risen much before it began, or large files were lost */

	int64_t files_kib; /* union of the sampled pages of files, and the readings behind it */
	uint64_t files_of;
};

/* Best first. */
enum memory_source { MEMORY_PSS, MEMORY_SAMPLED, MEMORY_CGROUP, MEMORY_BOUND, MEMORY_RSS };

struct tree_memory {
	int reason;        /* why the memory is unknown; 0: it is known */
	int64_t rss_bytes; /* shared pages count for each user */
	int64_t best_bytes;
	enum memory_source best_source;
	int64_t error_kib; /* sampling error at two standard deviations; -1: nothing was sampled */
	const struct proc_meminfo *machine; /* as read at this tick; NULL: was not read */

	int pss_reason; /* why the following fields are unknown; 0: they are known */
	int64_t pss_kib;
	int64_t private_kib;
	int64_t main_private_kib; /* -1: the root has exited */
	int64_t shared_kib;
	int64_t swap_kib;
	int64_t huge_kib;   /* hugetlb */
	int64_t pss_age_ns; /* age of the oldest reading behind them */
};

void process_memory_open(struct process_memory *memory, struct root *root);
void process_memory_close(struct process_memory *memory);

/* Takes the readings that are due and reports the figures. Call after the tree was touched in this tick. */
void process_memory_measure(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
			    struct tree_memory *ret_memory);
