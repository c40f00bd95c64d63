/*
 * A sample of pages that is the same for everybody.
 *
 * At level L one page of every block of 2^L pages is looked at, and which one is a function of the block alone: two
 * processes that share memory at the same addresses (a fork), or two mappings of one file, are sampled at the same pages, so
 * that their union can be counted. Levels are nested: each page of level L + 1 is one of level L, so that a finer sample
 * can be thinned out to a coarser one. Within a block the page is drawn by a hash, because jobs write with strides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_LEVEL_MOST = 40 };

/* The page of block `block` that is looked at. */
uint64_t page_sample_at(unsigned level, uint64_t block);

static inline bool page_is_sampled(unsigned level, uint64_t page)
{
	return page_sample_at(level, page >> level) == page;
}

/* The smallest level at which `pages` has at most `most` samples, from `level` on. */
unsigned page_sample_level(unsigned level, uint64_t pages, uint64_t most);

/* A set of sampled pages, each known by its number in `space` (a process family, a file). */
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
/* False without memory: the place is then missing. */
bool page_places_add(struct page_places *places, uint64_t space, uint64_t page);
/* Leaves those of a coarser level. */
void page_places_thin(struct page_places *places, unsigned level);
void page_places_sort(struct page_places *places);
/* Sorts and removes what is there twice. */
void page_places_unite(struct page_places *places);
/* How many are of a level. */
size_t page_places_count_at(const struct page_places *places, unsigned level);
