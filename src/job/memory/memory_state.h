/* The state that the memory of a job keeps from one tick to the next. process_memory.c puts the figure together. */
#pragma once

#include "job/memory/memory_family.h"
#include "job/memory/memory_objects.h"
#include "job/memory/memory_reading.h"
#include "job/tree/allowance.h"
#include "kernel/proc_meminfo.h"

struct reading_candidate;

/* --pss */
enum pss_mode { PSS_MODE_AUTO, PSS_MODE_ALWAYS, PSS_MODE_OFF };

/* Best first. */
enum memory_source { MEMORY_PSS, MEMORY_SAMPLED, MEMORY_CGROUP, MEMORY_BOUND, MEMORY_RSS };

struct tree_memory {
	int reason;        /* why the memory is unknown. 0: it is known */
	int64_t rss_bytes; /* shared pages count for each user */
	int64_t best_bytes;
	enum memory_source best_source;
	int64_t error_kib; /* sampling error at two standard deviations. -1: nothing was sampled */
	const struct proc_meminfo *machine; /* as read at this tick. NULL: was not read */

	int pss_reason; /* why the following fields are unknown. 0: they are known */
	int64_t pss_kib;
	int64_t private_kib;
	int64_t main_private_kib; /* -1: the root has exited */
	int64_t shared_kib;
	int64_t swap_kib;
	int64_t file_kib;   /* pages of files, a part of pss_kib */
	int64_t huge_kib;   /* hugetlb */
	int64_t pss_age_ns; /* age of the oldest reading behind them */
};

struct process_memory {
	int64_t shared_kib;  /* sum of all members' file and shared memory pages in this tick */
	int64_t late_kib;    /* what members that there was no time to read may have changed */
	double allowance_ns; /* time that readings may take now */
	int64_t beyond_kib; /* anonymous memory of the machine beyond the job's that readings have explained */
	int64_t suspect_kib;   /* the job's at tree->memory.suspect_ns */
	int64_t calm_until_ns; /* other programs have just grown: a rise says nothing until then */

	struct memory_families families;
	struct memory_reader reader;
	struct memory_objects objects;
	struct page_places files; /* scratch */
	struct reading_candidate *candidates;
	size_t candidate_capacity;

	size_t members_most;  /* the largest number of members so far */
	int64_t last_ns;      /* when the allowance last grew. 0: never */
	double correction_ns; /* the same of memory_correct.h, and */
	int64_t corrected_ns; /* when that last grew. 0: never */
	enum { FRAMES_UNKNOWN, FRAMES_SEEN, FRAMES_HIDDEN } frames; /* in page maps */
	int ruled_out; /* errno of the root's first failed reading, 0 without one */

	struct kept_file meminfo_file;
	struct proc_meminfo machine; /* fields are -1 while unknown */
	int64_t huge_kib; /* hugetlb that the machine has in use. -1: unknown, it has pages of several sizes */

	struct allowance for_scans;
	size_t scan_next;             /* the member whose descriptors are searched next */
	bool scanning;                /* a search of all members is in progress */
	int64_t scanned_ns;           /* when the last search ended. 0: never */
	int64_t scanned_shmem_kib;    /* the machine's shared memory when it began, and */
	int64_t searched_shmem_kib;   /* the same of the last search that is complete, and */
	int64_t searched_objects_kib; /* all objects that were known at its end */
	int64_t mapped_shmem_kib;     /* when the last search began that included mappings */
	bool scans_mappings;          /* this search does */
	bool scan_is_urgent; /* the machine's shared memory had risen much before it began, or large files were lost */

	int64_t files_kib; /* union of the sampled pages of files, and the readings behind it */
	uint64_t files_of;

	/* An object of unknown size was there: a loss of its pages is compared with the machine's. */
	bool has_unknown;
	int64_t begun_shmem_kib; /* the machine's shared memory before pages were read. -1: no such object */

	struct tree_memory told; /* the last figures, and */
	int64_t told_ns; /* the pass that they are of, if nothing was left to correct. 0: something was */
	int64_t told_shmem_kib; /* the machine's shared memory then, and */
	size_t told_objects;    /* the shared objects that were known */
	bool has_read;          /* a member was read in this tick */
	bool hold;              /* the figures of this tick are the last ones */
};
