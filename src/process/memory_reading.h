/*
 * One reading of one process's memory, by one of two ways:
 *
 *   ROLLUP   /proc/PID/smaps_rollup: exact, but the kernel holds the memory map of the process for 11-14 ms a GiB of small
 *            pages. For processes in which that takes less than a millisecond.
 *   SAMPLED  /proc/PID/maps and some hundred entries of /proc/PID/pagemap, a few microseconds each: which part of the pages
 *            this process has alone, and which pages it shares. For all others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"
#include "process/memory_objects.h"
#include "process/page_sample.h"

enum memory_reading_kind { READING_ROLLUP, READING_SAMPLED };

/* Anonymous memory is `exclusive`, in no other page table, or `common`. */
struct memory_reading {
	enum memory_reading_kind kind;
	bool has_anon; /* SAMPLED: the areas of anonymous memory were looked at, because relatives share them */
	bool is_settled; /* the resident set was the same before and after: the caller's to fill */
	int64_t taken_ns;

	/* As of then, by statm and stat: the caller's to fill. Growth is counted from here. */
	int64_t statm_anon_kib;
	int64_t statm_shared_kib;
	int64_t faults;
	size_t family_size;

	int64_t anon_kib;

	int64_t exclusive_kib;
	int64_t common_kib;
	int64_t common_share_kib; /* ROLLUP: the part of `common` that is this process's, divided by its users */
	int64_t file_kib; /* pages of files: ROLLUP divided by users, SAMPLED those of this process alone */
	int64_t private_kib; /* anonymous or not */
	int64_t swap_kib;
	int64_t huge_private_kib; /* private mappings of huge pages (hugetlb) */
	double variance;          /* of exclusive_kib, KiB squared */

	struct page_places
		common; /* sampled pages of `common`: by address, and by frame where that may be seen */
	struct page_places files;   /* sampled pages of files that another process maps as well */
	struct page_places objects; /* (device, inode) of the shared memory that it maps */
};

struct sampled_area;

/* What a reading needs besides the process; kept over readings. */
struct memory_reader {
	struct root *root;
	struct memory_objects *objects;
	struct sampled_area *areas;
	size_t area_count;
	size_t area_capacity;
	bool swap_in_use; /* on this machine */
	bool huge_in_use;
	int64_t entries_read; /* of page maps, for tests and measurements */
};

struct memory_subject {
	pid_t pid; /* whose files tell its memory */
	int64_t anon_pages;
	int64_t shared_pages;
	bool with_anon;
	bool with_rollup;
	bool is_of_few; /* no more than eight share its memory: each error weighs more */
};

void memory_reader_done(struct memory_reader *reader);

/* 0 and a reading that replaces the one in `*ret_reading` (NULL: none yet), or a negative errno. */
int memory_reading_take(struct memory_reader *reader, const struct memory_subject *subject,
			struct memory_reading **ret_reading);
void memory_reading_free(struct memory_reading *reading);
