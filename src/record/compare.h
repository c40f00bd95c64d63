/*
 * Differences between runs: per figure and per phase, against the first side, with the noise that several runs of a
 * side show.
 *
 * The noise is twice the standard error of the difference of the means (sample deviations, Welch): about one in
 * twenty differences of equal things is larger. One run on a side says nothing about noise.
 */
#pragma once

#include "record/problem.h"
#include "record/summary.h"

struct side_figure {
	size_t runs;                         /* that have it */
	double mean, least, most, deviation; /* NaN: no run has it; deviation: fewer than two have it */
	unsigned measures;                   /* of memory: bits of enum memory_measure */
};

struct compared {
	char *name; /* "memory_peak", "load.secs" */
	bool of_phase;
	const char *unit;
	struct side_figure *sides;
};

struct rt_comparison {
	char **sides;
	size_t *runs;
	size_t side_count;
	struct compared *list; /* by size of the largest change; from nothing stands beside to nothing */
	size_t count;
};

/* rt_compare() of runs whose summaries have been read. */
int compare_summaries(const struct rt_compared_run *runs, size_t run_count, rt_summary *const *summaries,
		      rt_comparison **ret_comparison, struct rt_problem *ret_problem);

/* Of a side against the first one: NaN where it cannot be told, infinite where there was nothing before. */
double compared_change_pct(const struct compared *compared, size_t side);
double compared_noise_pct(const struct compared *compared, size_t side);
/* Whether the runs of both sides measured the same thing; memory may count shared pages once or in each process. */
bool compared_alike(const struct compared *compared, size_t side);
/* "shared pages once", "an upper bound and shared pages in each process": of one side. */
void compared_add_measures(struct buffer *out, const struct compared *compared, size_t side);
