/*
 * Finds the samples that belong to a stretch of time, and the part of each. This is the one rule for phases: `regions`, the
 * page and `compare-runs` all use it.
 *
 * A sample has an interval, which ends at its time stamp. Cores and bytes hold for this interval: they belong to a stretch of
 * time by the part of the interval that lies in it. Memory holds for one moment: it belongs to a stretch that contains the
 * time stamp, ends included. With samples at 1, 2 and 3 s, a phase from 1.5 to 2.5 s has half of the bytes of the samples at 2 and
 * at 3 s, and the memory of the sample at 2 s.
 */
#pragma once

#include "record/problem.h"

struct sample_time {
	double began, ended;
	size_t row;
};

struct sample_times {
	struct sample_time *list; /* sorted by `ended` */
	size_t count;
	double longest_secs;
};

/* A part of one sample. */
struct sample_share {
	size_t row;
	double secs;  /* of the interval */
	double part;  /* of the interval, 0 to 1 */
	bool has_end; /* the time stamp lies in the stretch */
};

struct sample_shares {
	struct sample_share *list;
	size_t count, capacity;
	bool failed; /* out of memory */
};

/*
 * Sorts the samples, and takes the end of the sample before for an unknown `began` (NaN). A sample that is the first of all
 * then has no interval.
 */
void sample_times_settle(struct sample_times *times);
void sample_times_done(struct sample_times *times);

/* Adds the samples that have a part in the time from `start` to `stop`. */
void sample_shares_add(struct sample_shares *shares, const struct sample_times *times, double start,
		       double stop);
void sample_shares_done(struct sample_shares *shares);
