/*
 * A sample of pages that is the same in every process.
 *
 * At level L one page of each block of 2^L pages is sampled, and the block alone determines which. So two processes
 * that share memory at the same addresses (a fork), or two mappings of one file, are sampled at the same pages, and
 * their union can be counted. Levels nest: each page of level L + 1 is also one of level L, so a finer sample can be
 * thinned to a coarser one. Within a block a hash draws the page, because jobs write with strides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_LEVEL_MOST = 40 };

/* Returns the sampled page of a block. */
uint64_t page_sample_at(unsigned level, uint64_t block);

static inline bool page_is_sampled(unsigned level, uint64_t page)
{
	return page_sample_at(level, page >> level) == page;
}

/* The smallest level, from `level` on, at which `pages` pages have at most `most` samples. */
unsigned page_sample_level(unsigned level, uint64_t pages, uint64_t most);

/* A set of sampled pages, each with its number in `space` (a process family, a file). */
struct page_place {
	uint64_t space;
	uint64_t page;
};

struct page_places {
	struct page_place *at;
	size_t count;
	size_t capacity;
	unsigned level;
};

void page_places_done(struct page_places *places);
/* Returns false without memory: the place is then missing from the set. */
bool page_places_add(struct page_places *places, uint64_t space, uint64_t page);
/* Keeps only the pages of a coarser level. */
void page_places_thin(struct page_places *places, unsigned level);
void page_places_sort(struct page_places *places);
/* Sorts the set and removes duplicates. */
void page_places_unite(struct page_places *places);
/* Counts the pages of a level. */
size_t page_places_count_at(const struct page_places *places, unsigned level);
