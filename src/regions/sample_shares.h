/*
 * Adds up the samples that belong to a stretch of time, each by its part. This is the one rule for phases: `regions`, the page
 * and `compare-runs` all use it.
 *
 * A sample has an interval, which ends at its time stamp. Cores and bytes hold for this interval: they belong to a stretch of
 * time by the part of the interval that lies in it. Memory holds for one moment: it belongs to a stretch that contains the
 * time stamp, ends included. With samples at 1, 2 and 3 s, a phase from 1.5 to 2.5 s has half of the bytes of the samples at 2 and
 * at 3 s, and the memory of the sample at 2 s.
 *
 * Samples come one by one, in the order of time, and are not kept.
 */
#pragma once

#include "summary/phases.h"
#include "table/aggregate.h"

/* A value is that of a moment, a mean over the interval before it, or an amount of this interval. */
enum measure_holds { HOLDS_MOMENT, HOLDS_LEVEL, HOLDS_AMOUNT };
enum region_statistic { REGION_MIN, REGION_MAX, REGION_MEAN, REGION_STD, REGION_TOTAL, REGION_STATISTICS };

struct sample_values {
	double began, ended;
	const struct rt_value *cells; /* of each measure */
};

/* The sums of the shares of samples, for one measure. */
struct share_sums {
	struct values moments;
	double least, most, sum, weights, squares; /* of intervals. Least and most are NaN without any */
};

/* NaN: no sample has the measure. Moments have no total. */
void share_sums_get(struct share_sums *sums, enum measure_holds holds, double *ret_statistics);

/* A call that the samples have reached, and not left yet. */
struct open_call {
	double start, stop;
	bool holds_sample; /* a time stamp lies in it */
	struct share_sums *sums;
};

/* The samples of one phase. The time that calls share counts once. */
struct phase_tally {
	const struct phase *phase;
	size_t next_call;        /* the first that no sample has reached */
	struct phase_call *span; /* calls that share time are one span */
	size_t span_count, first_span;
	struct open_call *open;
	size_t open_count, open_room;
	int64_t timepoints, non_empty_calls;
	struct share_sums *sums;
	double (*each)
		[2]; /* per measure, the least and most of its calls: of their totals, or of their maxima for moments */
};

struct tallies {
	const enum measure_holds *holds;
	size_t measure_count;
	struct phase_tally *list;
	size_t count;
	struct share_sums *whole; /* of all samples */
	int64_t samples;
	double last_end; /* of the last sample, NaN for none yet */
};

/* Returns 0 or -ENOMEM. `holds` is that of each measure. The phases and `holds` must outlive the tallies. */
int tallies_begin(struct tallies *tallies, const struct phases *phases, const enum measure_holds *holds,
		  size_t measure_count);
/* Drops the samples before another run of the same file. */
void tallies_clear(struct tallies *tallies);
/*
 * Adds a sample. If its beginning is unknown (NaN), it begins at the end of the sample before. The first of all then has no
 * interval. Returns 0 or -ENOMEM.
 */
int tallies_add(struct tallies *tallies, struct sample_values sample);
/* Ends the calls that go on at the last sample. */
void tallies_finish(struct tallies *tallies);
void tallies_done(struct tallies *tallies);
