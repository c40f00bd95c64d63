/*
 * The course of a run in bounded memory: the newest moments as they were sampled, and older ones merged, so that the whole
 * run stays.
 */
#pragma once

#include "live/moment.h"

enum { TIMELINE_MOMENTS = 2048 };

struct timeline {
	struct moment *moments; /* in the order of time */
	size_t count;
	double peaks[SERIES_COUNT]; /* the largest sample of each series; NaN: none is known */
};

/* Takes over the moment, whether or not it fails. Returns 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, struct moment *moment);
void timeline_clear(struct timeline *timeline);

/* The end of the newest moment, and the beginning of the oldest, or 0 without any. */
double timeline_end(const struct timeline *timeline);
double timeline_start(const struct timeline *timeline);

/* The moment at a time: the first one that ends at or after it, else the last. NULL without any. */
const struct moment *timeline_at(const struct timeline *timeline, double secs);

/* Divides a span of time into columns. A column without a value is NaN. */
void timeline_columns(const struct timeline *timeline, enum series series, double from_secs, double to_secs,
		      double *ret_columns, size_t count);
