/* Divides samples among stretches of time; see sample_shares.h. */
#include "advice/sample_shares.h"

#include <math.h>
#include <stdlib.h>

static int by_end(const void *a, const void *b)
{
	const struct sample_time *left = a, *right = b;

	return (left->ended > right->ended) - (left->ended < right->ended);
}

void sample_times_settle(struct sample_times *times)
{
	if (times->count)
		qsort(times->list, times->count, sizeof(*times->list), by_end);
	for (size_t i = 0; i < times->count; i++) {
		struct sample_time *one = &times->list[i];

		if (!(one->began <= one->ended))
			one->began = i ? times->list[i - 1].ended : one->ended;
		times->longest_secs = fmax(times->longest_secs, one->ended - one->began);
	}
}

void sample_times_done(struct sample_times *times)
{
	free(times->list);
	*times = (struct sample_times){0};
}

/* Returns the first sample that ends at this time or later. */
static size_t first_from(const struct sample_times *times, double time)
{
	size_t low = 0, high = times->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times->list[middle].ended < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_share(struct sample_shares *shares, struct sample_share share)
{
	if (shares->count == shares->capacity) {
		size_t capacity = shares->capacity ? 2 * shares->capacity : 64;
		struct sample_share *list = reallocarray(shares->list, capacity, sizeof(*list));

		if (!list) {
			shares->failed = true;
			return;
		}
		shares->list = list;
		shares->capacity = capacity;
	}
	shares->list[shares->count++] = share;
}

void sample_shares_add(struct sample_shares *shares, const struct sample_times *times, double start,
		       double stop)
{
	for (size_t i = first_from(times, start); i < times->count; i++) {
		const struct sample_time *one = &times->list[i];
		double length = one->ended - one->began;
		struct sample_share share = {.row = one->row,
					     .secs = fmin(one->ended, stop) - fmax(one->began, start),
					     .has_end = one->ended <= stop};

		if (one->ended - times->longest_secs > stop)
			return;
		if (length > 0)
			share.part = fmax(share.secs, 0) / length;
		else
			share.part = share.has_end;
		share.secs = fmax(share.secs, 0);
		if (share.part > 0 || share.has_end)
			add_share(shares, share);
	}
}

void sample_shares_done(struct sample_shares *shares)
{
	free(shares->list);
	*shares = (struct sample_shares){0};
}
