/* Chooses the same pages in every process. See page_sample.h. */
#include "job/memory/page_sample.h"

#include <stdlib.h>

/* splitmix64. */
static uint64_t mix_bits(uint64_t value)
{
	value += UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* Halves the block until one page is left. Levels nest because each level makes the same choices. */
uint64_t page_sample_at(unsigned level, uint64_t block)
{
	uint64_t at = block;

	while (level-- > 0)
		at = at << 1 | (mix_bits(at ^ (uint64_t)level << 56) & 1);
	return at;
}

unsigned page_sample_level(unsigned level, uint64_t pages, uint64_t most)
{
	while (level < PAGE_LEVEL_MOST && pages >> level > most)
		level++;
	return level;
}

void page_places_done(struct page_places *places)
{
	free(places->at);
	*places = (struct page_places){0};
}

bool page_places_add(struct page_places *places, uint64_t space, uint64_t page)
{
	if (places->count == places->capacity) {
		size_t capacity = places->capacity ? places->capacity * 2 : 8;
		struct page_place *at = realloc(places->at, capacity * sizeof *at);

		if (!at)
			return false;
		places->at = at;
		places->capacity = capacity;
	}
	places->at[places->count++] = (struct page_place){space, page};
	return true;
}

void page_places_thin(struct page_places *places, unsigned level)
{
	size_t kept = 0;

	if (level <= places->level)
		return;
	for (size_t i = 0; i < places->count; i++)
		if (page_is_sampled(level, places->at[i].page))
			places->at[kept++] = places->at[i];
	places->count = kept;
	places->level = level;
}

static int compare_page_places(const void *left_, const void *right_)
{
	const struct page_place *left = left_, *right = right_;

	if (left->space != right->space)
		return left->space < right->space ? -1 : 1;
	return left->page < right->page ? -1 : left->page > right->page;
}

void page_places_sort(struct page_places *places)
{
	if (places->count > 1)
		qsort(places->at, places->count, sizeof *places->at, compare_page_places);
}

void page_places_unite(struct page_places *places)
{
	size_t kept = 0;

	page_places_sort(places);
	for (size_t i = 0; i < places->count; i++)
		if (!kept || compare_page_places(&places->at[kept - 1], &places->at[i]) != 0)
			places->at[kept++] = places->at[i];
	places->count = kept;
}

size_t page_places_count_at(const struct page_places *places, unsigned level)
{
	size_t count = 0;

	for (size_t i = 0; i < places->count; i++)
		count += page_is_sampled(level, places->at[i].page);
	return count;
}
