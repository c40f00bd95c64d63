/*
 * Differences between runs: per figure and per phase, against the first side, with the noise that several runs of a
 * side show.
 *
 * The noise is twice the standard error of the difference of the means (sample deviations, Welch): about one in
 * twenty differences of equal things is larger. One run on a side says nothing about noise.
 */
#pragma once

#include "advice/summary.h"
#include "record/problem.h"

struct side_figure {
	size_t runs;                         /* that have it */
	double mean, least, most, deviation; /* NaN: no run has it; deviation: fewer than two have it */
	unsigned measures;                   /* of memory: bits of enum memory_measure */
};

struct compared {
	char *name;          /* "memory_peak", "load.secs" */
	bool of_phase, head; /* head: among the three that stand first */
	const char *unit;
	struct side_figure *sides;
};

enum { OUTCOME_BYTES = 160 };

struct rt_comparison {
	char **sides;
	size_t *runs;
	char (*outcomes)
		[OUTCOME_BYTES]; /* of each side: "exit status 0", or that its runs ended differently */
	size_t side_count;
	struct compared
		*list; /* wall time, CPU time, memory; then by the largest change that is worth telling */
	size_t count;
};

/* rt_compare() of runs whose summaries have been read. */
int compare_summaries(const struct rt_compared_run *runs, size_t run_count, rt_summary *const *summaries,
		      rt_comparison **ret_comparison, struct rt_problem *ret_problem);

/* Of a side against the first one: NaN where it cannot be told, infinite where there was nothing before. */
double compared_change_pct(const struct compared *compared, size_t side);
double compared_noise_pct(const struct compared *compared, size_t side);
/* Whether the difference is too small for its unit to be told in percent: 20 ms, 1 MiB, a process more. */
bool compared_negligible(const struct compared *compared, size_t side);
/* Whether the runs of both sides measured the same thing; memory may count shared pages once or in each process. */
bool compared_alike(const struct compared *compared, size_t side);
/* "shared pages once", "an upper bound and shared pages in each process": of one side. */
void compared_add_measures(struct buffer *out, const struct compared *compared, size_t side);

/* The name of a side for people: the last part of its path where that is enough to tell the sides apart. */
const char *comparison_side_name(const rt_comparison *comparison, size_t side);

/* An amount with the unit that people read: "12.3 s", "1.5 GiB", "1.96 cores"; "unknown". */
void compared_add_amount(struct buffer *out, double value, const char *unit);

/*
 * One line for each side but the first: "b is 18 % slower than a: more CPU time in user mode; the same memory". Changes
 * within the noise, or below 5 % where single runs show none, count as the same.
 */
void comparison_add_verdict(struct buffer *out, const rt_comparison *comparison);
