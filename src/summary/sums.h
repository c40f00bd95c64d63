/* Means, maxima and sums over the samples of a run. An unknown value is NaN. */
#pragma once

#include <math.h>
#include <stdbool.h>

/* Mean and maximum over the samples. The mean is weighted by time. */
struct figure {
	double weighted, weights; /* sum of value x seconds, and of seconds */
	double most;              /* NaN: no sample has it */
	double most_elapsed_secs;
	bool has_gap; /* a sample without a value came after one with it */
};

static inline double figure_mean(const struct figure *figure)
{
	return figure->weights > 0 ? figure->weighted / figure->weights : (double)NAN;
}

/* The position of a sample in the run, and its length. */
struct moment {
	double elapsed_secs;
	double length_secs;
};

/* NaN means that the sample has no value. */
void figure_add(struct figure *figure, const struct moment *moment, double value);

/* A sum of changes, absent if no sample has one. A sample without one, after the first with one, leaves a gap. */
struct total {
	double sum;
	bool present;
	bool has_gap;
};

void total_add(struct total *total, double change);

static inline double total_of(const struct total *total)
{
	return total->present && (total->sum > 0 || !total->has_gap) ? total->sum : (double)NAN;
}

/* gpu_tracker's groups: the root process, its descendants, and all of them. */
struct parts {
	struct figure main, descendants, combined;
};
