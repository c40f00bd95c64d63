/* Reads the memory of one process once. See memory_reading.h. */
#include "job/memory/memory_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/min_max.h"
#include "job/memory/memory_tuning.h"
#include "kernel/proc_pid_maps.h"
#include "kernel/proc_pid_pagemap.h"
#include "kernel/proc_pid_smaps_rollup.h"
#include "kernel/proc_pid_status.h"

/* vm.max_map_count is 65530 by default. */
enum { AREAS_MOST = 65536 };

enum area_kind { AREA_ANON, AREA_FILE, AREA_OBJECT, AREA_HUGE };

struct sampled_area {
	enum area_kind kind;
	uint64_t first; /* pages of the address space: [first, last) */
	uint64_t last;
	uint64_t file_page; /* offset of `first` in the file, in pages */
	uint64_t device;
	uint64_t inode;
};

struct window {
	int fd;
	uint64_t first;
	size_t count;
	int64_t reads;
	uint64_t entries[WINDOW];
};

/*
 * Pages that are present, and those that are exclusive, by clusters. Each cluster stands for the block of pages that it lies in, so
 * the differences between neighbours give the sampling error: a process that overwrites its memory from one end to the other has
 * hardly any.
 */
struct tally {
	double present;
	double exclusive;
	double last_present; /* of the cluster before */
	double last_exclusive;
	double present_squares; /* of the differences */
	double exclusive_squares;
	double products;
};

void memory_reading_free(struct memory_reading *reading)
{
	if (!reading)
		return;
	page_places_done(&reading->common);
	page_places_done(&reading->files);
	page_places_done(&reading->objects);
	free(reading);
}

void memory_reader_done(struct memory_reader *reader)
{
	free(reader->areas);
	*reader = (struct memory_reader){0};
}

/* ---- areas ------------------------------------------------------------------------------------------------- */

static bool add_area(struct memory_reader *reader, enum area_kind kind, const struct memory_area *area)
{
	uint64_t page_bytes = (uint64_t)reader->root->page_bytes;

	if (reader->area_count == reader->area_capacity) {
		size_t capacity = reader->area_capacity ? reader->area_capacity * 2 : 64;
		struct sampled_area *areas = realloc(reader->areas, capacity * sizeof *areas);

		if (!areas)
			return false;
		reader->areas = areas;
		reader->area_capacity = capacity;
	}
	reader->areas[reader->area_count++] = (struct sampled_area){
		.kind = kind,
		.first = area->start / page_bytes,
		.last = area->end / page_bytes,
		.file_page = area->offset / page_bytes,
		.device = area->device,
		.inode = area->inode,
	};
	return true;
}

static bool is_of_kernel(const struct memory_area *area)
{
	static const char *const NAMES[] = {"[vvar]", "[vvar_vclock]", "[vdso]", "[vsyscall]"};

	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		if (scan_is(&area->name, NAMES[i]))
			return true;
	return false;
}

static bool is_private_huge(const struct memory_area *area)
{
	return !area->shared && scan_left(&area->name) >= 14 &&
	       memcmp(area->name.at, "/anon_hugepage", 14) == 0;
}

/*
 * The dynamic linker writes addresses into the constant data of a library and then makes it read-only: anonymous pages in an
 * area that no process can write, which ends where the library's variables begin.
 */
static bool is_relocated(const struct memory_area *area, const struct memory_area *next)
{
	return next->writable && next->inode && area->inode == next->inode && area->device == next->device &&
	       area->end == next->start && !area->writable && !area->shared;
}

static void sort_area(struct memory_reader *reader, const struct memory_subject *subject,
		      const struct memory_area *before, const struct memory_area *area,
		      struct memory_reading *reading)
{
	bool sampled = !subject->with_rollup;

	if (is_private_huge(area)) {
		(void)add_area(reader, AREA_HUGE, area);
		return;
	}
	if (memory_objects_has(reader->objects, area)) {
		if (!memory_objects_meet(reader->objects, reader->root, subject->pid, area)) {
			reading->cut_pages +=
				(int64_t)((area->end - area->start) / (uint64_t)reader->root->page_bytes);
			return;
		}
		if (!page_places_add(&reading->objects, area->device, area->inode))
			return;
		reading->has_copies |= area->writable && !area->shared;
		(void)add_area(reader, AREA_OBJECT, area);
	} else if (area->inode && sampled && subject->with_files && !subject->keeps_files) {
		(void)add_area(reader, AREA_FILE, area);
	}
	/* The written pages of a private mapping are anonymous, even if it maps a file. */
	if (!sampled || !subject->with_anon || area->shared || (!area->writable && area->inode) ||
	    (!area->readable && !area->writable) || is_of_kernel(area))
		return;
	if (is_relocated(before, area))
		(void)add_area(reader, AREA_ANON, before);
	(void)add_area(reader, AREA_ANON, area);
}

static int read_areas(struct memory_reader *reader, const struct memory_subject *subject,
		      struct memory_reading *reading)
{
	struct memory_area area, before = {0};
	struct scan areas;
	int error = read_proc_pid_maps(reader->root, subject->pid, &areas);

	reader->area_count = 0;
	if (error < 0)
		return error;
	while (reader->area_count < AREAS_MOST && proc_pid_maps_next(&areas, &area)) {
		sort_area(reader, subject, &before, &area, reading);
		before = area;
	}
	return 0;
}

/* ---- pages ------------------------------------------------------------------------------------------------- */

static bool read_entry(struct window *window, uint64_t page, uint64_t last, unsigned level,
		       uint64_t *ret_entry)
{
	size_t want = level <= CLOSE_LEVEL ? WINDOW : CLUSTER;
	ssize_t got;

	if (page < window->first || page - window->first >= window->count) {
		if (want > last - page)
			want = (size_t)(last - page);
		window->count = 0;
		got = read_proc_pid_pagemap(window->fd, page, window->entries, want);
		window->reads++;
		if (got <= 0)
			return false;
		window->first = page;
		window->count = (size_t)got;
	}
	*ret_entry = window->entries[page - window->first];
	return true;
}

/*
 * Steps through the sampled pages of an area. Anonymous memory is sampled by address, files and objects by their
 * offset, so that all processes that map them look at the same pages. Begin with *ret_page = 0. The next call continues
 * from it.
 */
static bool next_sample(const struct sampled_area *area, unsigned level, bool by_file, uint64_t *block,
			uint64_t *ret_page, uint64_t *ret_place)
{
	uint64_t begin = by_file ? area->file_page : area->first;
	uint64_t end = begin + (area->last - area->first);

	if (!*block)
		*block = (begin >> level) + 1;
	for (; *block - 1 <= (end - 1) >> level; ++*block) {
		uint64_t place = page_sample_at(level, *block - 1);

		if (place < begin || place >= end)
			continue;
		++*block;
		*ret_place = place;
		*ret_page = area->first + (place - begin);
		return true;
	}
	return false;
}

static uint64_t pages_of(const struct memory_reader *reader, enum area_kind kind)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < reader->area_count; i++)
		if (reader->areas[i].kind == kind)
			pages += reader->areas[i].last - reader->areas[i].first;
	return pages;
}

static unsigned level_for(const struct memory_reader *reader, enum area_kind kind, int64_t resident_pages,
			  uint64_t samples, uint64_t most)
{
	unsigned level = page_sample_level(0, resident_pages < 0 ? 0 : (uint64_t)resident_pages, samples);

	return page_sample_level(level, pages_of(reader, kind), most);
}

static bool counts_as(enum area_kind kind, uint64_t entry)
{
	return page_is_present(entry) && (kind == AREA_HUGE || page_is_of_file(entry) == (kind == AREA_FILE));
}

/*
 * Counts the pages around a sampled one, within the area. Near its ends and in small areas there are fewer of them, and
 * each counts for more: a library has many areas of a few pages.
 */
static void tally_cluster(struct window *window, const struct sampled_area *area, unsigned level,
			  uint64_t page, struct tally *tally)
{
	uint64_t first = page & ~(uint64_t)(CLUSTER - 1), last = first + CLUSTER, entry;
	double present = 0, exclusive = 0, weight = 1, present_more, exclusive_more;

	if (level <= CLOSE_LEVEL)
		first = page, last = page + 1;
	if (first < area->first)
		first = area->first;
	if (last > area->last)
		last = area->last;
	if (level > CLOSE_LEVEL)
		weight = (double)CLUSTER / (double)(last - first);
	for (uint64_t at = first; at < last; at++) {
		if (!read_entry(window, at, area->last, level, &entry) || !counts_as(area->kind, entry))
			continue;
		present += weight;
		exclusive += page_is_exclusive(entry) ? weight : 0;
	}
	tally->present += present;
	tally->exclusive += exclusive;
	present_more = present - tally->last_present;
	exclusive_more = exclusive - tally->last_exclusive;
	tally->last_present = present;
	tally->last_exclusive = exclusive;
	tally->present_squares += present_more * present_more;
	tally->exclusive_squares += exclusive_more * exclusive_more;
	tally->products += present_more * exclusive_more;
}

static struct tally sample_kind(struct memory_reader *reader, struct window *window, enum area_kind kind,
				unsigned level, struct page_places *shared)
{
	bool by_file = kind == AREA_FILE;
	struct tally tally = {0};

	shared->level = level;
	for (size_t i = 0; i < reader->area_count; i++) {
		const struct sampled_area *area = &reader->areas[i];
		uint64_t block = 0, page, place, entry;

		if (area->kind != kind)
			continue;
		while (next_sample(area, level, by_file, &block, &page, &place)) {
			tally_cluster(window, area, level, page, &tally);
			if (read_entry(window, page, area->last, level, &entry) && counts_as(kind, entry) &&
			    !page_is_exclusive(entry))
				(void)page_places_add(shared,
						      by_file ? area->inode ^ area->device << 32
							      : page_frame(entry),
						      place);
		}
	}
	return tally;
}

/* The next page is most often the one behind it, as in the reading before. */
static void note_seen(struct memory_object *object, uint64_t page, size_t *next)
{
	for (size_t i = 0; i < object->seen.count; i++, ++*next) {
		if (*next >= object->seen.count)
			*next = 0;
		if (object->seen.at[*next].page != page)
			continue;
		object->seen.at[(*next)++].space = object->round;
		return;
	}
	(void)page_places_add(&object->seen, object->round, page);
}

static void sample_objects(struct memory_reader *reader, struct window *window)
{
	for (size_t i = 0; i < reader->area_count; i++) {
		const struct sampled_area *area = &reader->areas[i];
		struct memory_object *object;
		uint64_t block = 0, page, place, entry;
		size_t next = 0;

		if (area->kind != AREA_OBJECT)
			continue;
		object = memory_objects_find(reader->objects, area->device, area->inode);
		if (!object || object->kib >= 0)
			continue; /* the kernel reports its size */
		page_places_thin(&object->seen, page_sample_level(0, object->pages, OBJECT_SAMPLES));
		while (next_sample(area, object->seen.level, true, &block, &page, &place))
			if (read_entry(window, page, area->last, object->seen.level, &entry) &&
			    page_is_present(entry))
				note_seen(object, place, &next);
	}
}

/* ---- readings ---------------------------------------------------------------------------------------------- */

static int64_t to_kib(const struct memory_reader *reader, uint64_t pages)
{
	return (int64_t)pages * (reader->root->page_bytes >> 10);
}

/* Scales a count of sampled pages to all pages. */
static uint64_t pages_found(double tallied, unsigned level)
{
	double block = (double)(UINT64_C(1) << level);

	return (uint64_t)(level <= CLOSE_LEVEL ? tallied * block : tallied * block / (double)CLUSTER);
}

/*
 * The number of resident anonymous pages is known. The sample gives the exclusive part of them. Addresses that were
 * only read map the kernel's page of zeros, which looks like a common page but is not resident memory.
 */
static void split_anon(struct memory_reader *reader, const struct memory_subject *subject,
		       const struct tally *tally, unsigned level, struct memory_reading *reading)
{
	double all_kib = (double)to_kib(reader, (uint64_t)subject->anon_pages), share, spread;
	uint64_t found = pages_found(tally->present, level);

	reading->finds_anon = found >= (uint64_t)subject->anon_pages / FOUND_LEAST;
	reading->anon_kib = (int64_t)all_kib;
	reading->exclusive_kib = reading->anon_kib;
	if (tally->present < 1)
		return;
	share = tally->exclusive / tally->present;
	if (found > (uint64_t)subject->anon_pages + (uint64_t)subject->anon_pages / 4 + (64U << level))
		reading->exclusive_kib =
			min_i64(reading->anon_kib, to_kib(reader, pages_found(tally->exclusive, level)));
	else
		reading->exclusive_kib = (int64_t)(all_kib * share);
	reading->common_kib = reading->anon_kib - reading->exclusive_kib;
	/* Variance of a ratio of two sums over clusters: two neighbours differ by twice the variance of one. */
	spread = (tally->exclusive_squares - 2 * share * tally->products +
		  share * share * tally->present_squares) /
		 2;
	if (level && spread > 0)
		reading->variance = all_kib * all_kib * spread / (tally->present * tally->present);
}

static void sample_anon(struct memory_reader *reader, const struct memory_subject *subject,
			struct window *window, struct memory_reading *reading)
{
	unsigned level = level_for(reader, AREA_ANON, subject->anon_pages, ANON_SAMPLES, ENTRIES_MOST);

	for (int left = ANON_REFINEMENTS;; left--) {
		struct tally tally;
		double variance;

		reading->common.count = 0;
		reading->variance = 0;
		tally = sample_kind(reader, window, AREA_ANON, level, &reading->common);
		split_anon(reader, subject, &tally, level, reading);
		if (!level || !left || reading->variance <= subject->variance_most)
			return;
		level--;
		/* Half of the error takes four times as many: what that needs is known by now. */
		for (variance = reading->variance / 2; level && left > 1 && variance > subject->variance_most;
		     variance /= 2) {
			level--;
			left--;
		}
	}
}

static int64_t resident_files_kib(struct memory_reader *reader, const struct memory_subject *subject,
				  const struct memory_reading *reading)
{
	struct proc_pid_status status;

	if (!reading->objects.count)
		return to_kib(reader, (uint64_t)subject->shared_pages);
	return read_proc_pid_status(reader->root, subject->pid, &status) < 0 ? -1 : status.rss_file_kib;
}

/* `resident_kib` counts files without shared memory, -1 if unknown. */
static void sample_files(struct memory_reader *reader, const struct memory_subject *subject,
			 int64_t resident_kib, struct window *window, struct memory_reading *reading)
{
	int64_t pages =
		resident_kib < 0 ? subject->shared_pages : resident_kib / (reader->root->page_bytes >> 10);
	unsigned level = level_for(reader, AREA_FILE, pages, FILE_SAMPLES,
				   subject->is_alone ? ALONE_MOST : ENTRIES_MOST);
	struct tally tally = sample_kind(reader, window, AREA_FILE, level, &reading->files);
	int64_t found_kib = to_kib(reader, pages_found(tally.present, level));

	reading->file_kib = to_kib(reader, pages_found(tally.exclusive, level));
	reading->files_scale = 1;
	/* How much is resident the kernel tells: the sample splits it, unless it has hardly seen any. */
	if (resident_kib < 0 || found_kib < resident_kib / FOUND_LEAST || found_kib <= 0)
		return;
	reading->files_scale = (double)resident_kib / (double)found_kib;
	reading->file_kib = (int64_t)((double)reading->file_kib * reading->files_scale);
}

static int read_sampled(struct memory_reader *reader, const struct memory_subject *subject,
			struct memory_reading *reading)
{
	CLEANUP_CLOSE int fd = open_proc_pid_pagemap(reader->root, subject->pid);
	struct window window = {.fd = fd};
	struct page_places huge = {0};
	struct tally tally;
	unsigned level;

	if (fd < 0)
		return fd;
	if (!subject->with_rollup) {
		sample_anon(reader, subject, &window, reading);
		if (subject->with_files && !subject->keeps_files)
			sample_files(reader, subject, resident_files_kib(reader, subject, reading), &window,
				     reading);
	}
	level = level_for(reader, AREA_HUGE, 0, OBJECT_SAMPLES, ENTRIES_MOST);
	tally = sample_kind(reader, &window, AREA_HUGE, level, &huge);
	reading->huge_private_kib = to_kib(reader, pages_found(tally.present, level));
	page_places_done(&huge);
	sample_objects(reader, &window);
	reader->entries_read += window.reads;
	return 0;
}

/*
 * Kernels before 5.3 do not split proportional sets: everything except this process's private anonymous memory counts
 * as "file".
 */
static void take_rollup(const struct proc_pid_smaps_rollup *rollup, const struct memory_subject *subject,
			int64_t page_kib, struct memory_reading *reading)
{
	int64_t pss_kib = rollup->pss_kib;
	int64_t anon_kib =
		rollup->anonymous_kib >= 0 ? rollup->anonymous_kib : subject->anon_pages * page_kib;
	int64_t anon_share_kib = rollup->pss_anon_kib;

	reading->private_kib = max_i64(0, rollup->private_clean_kib) + max_i64(0, rollup->private_dirty_kib);
	if (anon_share_kib < 0)
		anon_share_kib = min_i64(anon_kib, min_i64(pss_kib, reading->private_kib));
	reading->anon_kib = anon_kib;
	reading->resident_kib = rollup->rss_kib;
	reading->exclusive_kib =
		min_i64(anon_share_kib, min_i64(anon_kib, max_i64(0, rollup->private_dirty_kib)));
	reading->common_kib = anon_kib - reading->exclusive_kib;
	reading->common_share_kib = anon_share_kib - reading->exclusive_kib;
	reading->file_kib = rollup->pss_file_kib >= 0 ? rollup->pss_file_kib : pss_kib - anon_share_kib;
	reading->swap_kib = rollup->swap_pss_kib >= 0 ? rollup->swap_pss_kib : max_i64(0, rollup->swap_kib);
}

static int read_rollup(struct memory_reader *reader, const struct memory_subject *subject,
		       struct memory_reading *reading, bool *ret_needs_areas)
{
	struct proc_pid_smaps_rollup rollup;
	int error = read_proc_pid_smaps_rollup(reader->root, subject->pid, &rollup);

	if (error < 0)
		return error;
	if (rollup.pss_kib < 0)
		return -ENODATA;
	take_rollup(&rollup, subject, reader->root->page_bytes >> 10, reading);
	*ret_needs_areas = rollup.pss_shmem_kib > 0 ||
			   max_i64(0, rollup.private_hugetlb_kib) + max_i64(0, rollup.shared_hugetlb_kib) > 0;
	return 0;
}

static void read_swap(struct memory_reader *reader, const struct memory_subject *subject,
		      struct memory_reading *reading)
{
	struct proc_pid_status status;

	if (reader->swap_in_use && read_proc_pid_status(reader->root, subject->pid, &status) == 0)
		reading->swap_kib = max_i64(0, status.swap_kib);
}

/*
 * munmap(2) takes an area out of /proc/PID/maps first, and then frees its pages, 0.1 s per GiB: they are in the resident set, and nothing
 * tells which of them are exclusive. The reading before does.
 */
static bool is_unmapping(const struct memory_subject *subject, const struct memory_reading *before,
			 const struct memory_reading *reading)
{
	return subject->may_be_kept && reading->kind == READING_SAMPLED && reading->has_anon &&
	       !reading->finds_anon && before->kind == READING_SAMPLED && before->has_anon &&
	       before->finds_anon;
}

static void keep_files(struct memory_reading *from, struct memory_reading *reading)
{
	reading->file_kib = from->file_kib;
	reading->files_scale = from->files_scale;
	reading->files = from->files;
	from->files = (struct page_places){0};
}

int memory_reading_take(struct memory_reader *reader, const struct memory_subject *subject,
			struct memory_reading **ret_reading)
{
	struct memory_reading *reading = calloc(1, sizeof *reading);
	bool needs_areas = true;
	int error = 0;

	if (!reading)
		return -ENOMEM;
	reading->kind = subject->with_rollup ? READING_ROLLUP : READING_SAMPLED;
	reading->has_anon = subject->with_anon || subject->with_rollup;
	if (subject->with_rollup) {
		error = read_rollup(reader, subject, reading, &needs_areas);
		needs_areas |= *ret_reading && (*ret_reading)->objects.count;
	} else {
		read_swap(reader, subject, reading);
	}
	if (!error && needs_areas) {
		error = read_areas(reader, subject, reading);
		if (!error && reader->area_count)
			error = read_sampled(reader, subject, reading);
		/* The rollup is useful without the areas. */
		if (subject->with_rollup && error != -ESRCH)
			error = 0;
	}
	if (!error && is_unmapping(subject, *ret_reading, reading))
		error = -EAGAIN;
	if (error < 0) {
		memory_reading_free(reading);
		return error;
	}
	page_places_unite(&reading->objects);
	if (!subject->with_rollup) {
		if (subject->keeps_files)
			keep_files(*ret_reading, reading);
		reading->private_kib = reading->exclusive_kib + reading->file_kib;
	}
	memory_reading_free(*ret_reading);
	*ret_reading = reading;
	return 0;
}

void memory_reading_find_objects(struct memory_reader *reader, pid_t pid, struct memory_reading *reading)
{
	const struct memory_subject subject = {.pid = pid, .with_rollup = true};
	struct window window = {.fd = -1};

	if (read_areas(reader, &subject, reading) < 0 || !reading->objects.count)
		return;
	page_places_unite(&reading->objects);
	window.fd = open_proc_pid_pagemap(reader->root, pid);
	if (window.fd < 0)
		return;
	sample_objects(reader, &window);
	close(window.fd);
}
