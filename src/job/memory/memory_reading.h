/*
 * One reading of one process's memory, in one of two ways:
 *
 *   ROLLUP   /proc/PID/smaps_rollup: exact, but the kernel holds the process's memory map for 11-14 ms per GiB of
 *            small pages. For processes in which that takes less than a millisecond.
 *   SAMPLED  /proc/PID/maps and some hundred entries of /proc/PID/pagemap, a few microseconds each: the part of the
 *            pages that only this process has, and the pages that it shares. For all others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/memory/memory_objects.h"
#include "job/memory/page_sample.h"
#include "kernel/root.h"

enum memory_reading_kind { READING_ROLLUP, READING_SAMPLED };

/* Anonymous memory is `exclusive` (in no other page table) or `common`. */
struct memory_reading {
	enum memory_reading_kind kind;
	bool finds_anon; /* SAMPLED: the sample has found a good part of it */
	bool has_anon;   /* SAMPLED: anonymous areas were sampled, because relatives share them */
	bool has_copies; /* it maps shared memory privately: each page that it writes is beside one of that memory */
	bool has_files;  /* file pages were sampled, perhaps in an earlier reading; set by the caller */
	bool is_settled; /* the reading and statm are of one moment; set by the caller */
	int64_t taken_ns;

	/* From statm and stat at that time. Set by the caller. Growth counts from these values. */
	int64_t statm_anon_kib;
	int64_t statm_shared_kib;
	int64_t others_shared_kib; /* of all other members, which may map the same files */
	int64_t faults;
	size_t family_size;
	int64_t forks_anon_kib; /* of the largest of its forks */

	int64_t files_taken_ns; /* set by the caller */

	int64_t anon_kib;
	int64_t resident_kib; /* ROLLUP: all of it */
	int64_t exclusive_kib;
	int64_t exclusive_before_kib; /* in the reading before; set by the caller */
	int64_t common_kib;
	int64_t common_share_kib; /* ROLLUP: this process's part of `common`, which is divided by its users */
	int64_t file_kib; /* pages of files: ROLLUP divided by users, SAMPLED only this process's own */
	double files_scale; /* SAMPLED: resident pages of files, divided by the number that the sample suggests */
	int64_t private_kib; /* of every kind */
	int64_t swap_kib;
	int64_t huge_private_kib; /* private mappings of huge pages (hugetlb) */
	double variance;          /* of exclusive_kib, in KiB squared */

	int64_t objects_kib;       /* of all objects in the tick of the reading. 0: not set yet */
	int64_t machine_shmem_kib; /* the machine's at that time */
	int64_t machine_huge_kib;  /* the same of hugetlb, and */
	int64_t huge_mapped_kib; /* of the process, by /proc/PID/status: private and shared. Both set by the caller */
	int64_t virtual_pages; /* of the process at that time */
	int64_t cut_pages;     /* of mappings of shared memory that the table of objects has no place for */

	struct page_places common;  /* sampled pages of `common`: by address, and by frame if visible */
	struct page_places files;   /* sampled pages of files that other processes map as well */
	struct page_places objects; /* (device, inode) of the shared memory that the process maps */
};

struct sampled_area;

/* State of the reader that is kept from one reading to the next. */
struct memory_reader {
	struct root *root;
	struct memory_objects *objects;
	struct sampled_area *areas;
	size_t area_count;
	size_t area_capacity;
	bool swap_in_use;     /* some process of this machine has swapped memory */
	int64_t entries_read; /* page map entries, for tests and measurements */
};

struct memory_subject {
	pid_t pid; /* the process or thread whose files are read */
	int64_t anon_pages;
	int64_t shared_pages;
	bool with_anon;
	bool with_rollup;
	bool may_be_kept; /* the previous reading is not old, and the process was larger */
	bool with_files;  /* SAMPLED: file pages are sampled, else a relative's stand for them */
	bool is_alone;    /* no other member maps its files: they only divide into private and shared pages */
	bool keeps_files; /* the file pages of the previous reading are still right */
	double variance_most; /* of exclusive_kib: sample more pages while it is larger */
};

void memory_reader_done(struct memory_reader *reader);

/*
 * Takes a reading, which replaces the one in `*ret_reading` (NULL: none yet). Returns 0 or a negative errno. -EAGAIN: the process gives
 * memory back at this moment, and its last reading is better.
 */
int memory_reading_take(struct memory_reader *reader, const struct memory_subject *subject,
			struct memory_reading **ret_reading);

/*
 * Adds the shared memory that a process maps without having a page of it in its page table, because another process wrote it, or because
 * it has a private copy of each page. smaps_rollup shows none of that, so a reading by rollup leaves it out unless the one before it had some.
 */
void memory_reading_find_objects(struct memory_reader *reader, pid_t pid, struct memory_reading *reading);
void memory_reading_free(struct memory_reading *reading);
