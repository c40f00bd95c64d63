/*
 * The course of a value over a run of unknown length, in constant memory: at most TIME_BINS equal spans of
 * time. When more are needed, pairs of neighbours are merged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TIME_BINS = 240 };

struct time_bins {
	double bin_secs; /* 0 until the first value */
	size_t count;    /* bins up to the last value */
	struct {
		double weighted, weights; /* sums of value x seconds, and of seconds */
		double most;
	} bins[TIME_BINS];
};

/* Adds a value that held from `end` - `length` to `end` seconds after the start. NaN is skipped. */
void time_bins_add(struct time_bins *bins, double end_secs, double length_secs, double value);

/*
 * Computes the mean (or the maximum) in each of `columns` equal parts of `total_secs`; NaN for a part without
 * values.
 */
void time_bins_columns(const struct time_bins *bins, double total_secs, bool maximum, double *ret_values,
		       size_t columns);
