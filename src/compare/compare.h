/*
 * Differences between runs: for each figure and phase, relative to the first side, with the noise that
 * several runs of a side show.
 *
 * The noise is twice the standard error of the difference of the means (sample deviations, Welch): about one
 * in twenty differences between equal things is larger. A single run against NOISE_NEEDS runs or more of the first side has
 * the scatter of those: about one in a hundred equal runs is further from their mean (prediction interval). Fewer runs tell
 * nothing about noise.
 */
#pragma once

#include "verdict/run_summary.h"
#include "record/problem.h"

struct side_figure {
	size_t runs;                         /* runs that have the figure */
	double mean, least, most, deviation; /* NaN: no run has it. Deviation: fewer than two have it */
	unsigned measures;                   /* for memory: bits of enum memory_measure */
};

struct compared {
	char *name;          /* "memory_peak", "load.secs" */
	bool of_phase, head; /* head: one of the three figures that come first */
	size_t place;        /* by subject: as in the summary, and phase by phase */
	const char *unit;
	struct side_figure *sides;
};

/* Begins the name of a program's CPU time: "program_cpu[cc1plus]". */
#define PROGRAM_PREFIX "program_cpu["
/* That of a wait: "wait[TCP port 5432 of another machine]". */
#define WAIT_PREFIX "wait["

enum { OUTCOME_BYTES = 160, NOISE_NEEDS = 3 };

/* Whether processes that outlived the job belong to a run. Bits, as runs of a side may differ. */
enum { DESCENDANTS_WAITED_FOR = 1, DESCENDANTS_LEFT = 2 };

struct rt_comparison {
	char **sides;
	size_t *runs;
	char (*outcomes)[OUTCOME_BYTES]; /* per side: "exit status 0", or that its runs ended differently */
	unsigned *descendants;           /* per side; 0: no process is known to have outlived the job */
	size_t side_count;
	struct compared *list; /* wall time, CPU time, memory, then the rest by size of change */
	size_t count;
	bool of_jobs;         /* the runs followed jobs, so the machine's traffic is not theirs alone */
	size_t percent_needs; /* changes in percent are judged if the first side has this many runs of a figure */
};

static inline void cleanup_compared(rt_comparison **comparison)
{
	rt_comparison_free(*comparison);
}
#define CLEANUP_COMPARISON __attribute__((cleanup(cleanup_compared)))

/* Does the work of rt_compare() for runs whose summaries have been read. */
int compare_summaries(const struct rt_compared_run *runs, size_t run_count, rt_summary *const *summaries,
		      rt_comparison **ret_comparison, struct rt_problem *ret_problem);

/* One figure of one run. */
struct compared_value {
	const char *name, *unit; /* the unit must outlive the comparison */
	size_t side;             /* 0 or 1 */
	double value;            /* NaN: unknown */
	unsigned measures;
};
/* Compares two sides by figures that the caller has. -ENOMEM */
int compare_values(const char *const names[2], const size_t runs[2], const char *const outcomes[2],
		   const struct compared_value *values, size_t count, rt_comparison **ret_comparison);

/* Returns a side's change against the first one: NaN if it is unknown, infinite if the first side has 0. */
double compared_change_pct(const struct compared *compared, size_t side);
double compared_noise_pct(const struct compared *compared, size_t side);
/* Tells whether the difference is too small for a change in percent: 20 ms, 1 MiB, one process. */
bool compared_negligible(const struct compared *compared, size_t side);
/* Tells whether both sides measured the same thing: memory may count shared pages once or in each process. */
bool compared_alike(const struct compared *compared, size_t side);
/* Adds the measures of one side: "shared pages once", "an upper bound and shared pages in each process". */
void compared_add_measures(struct buffer *out, const struct compared *compared, size_t side);

/* Adds an amount with a unit for people: "12.3 s", "1.5 GiB", "1.96 cores"; "unknown". */
void compared_add_amount(struct buffer *out, double value, const char *unit);

/*
 * Adds one line for each side but the first: "b is 18 % slower than a: 25 % more CPU time, mostly in user mode; the same memory". Changes
 * within the noise, or below 5 % where single runs show none, count as the same.
 */
void comparison_add_verdict(struct buffer *out, const rt_comparison *comparison);
