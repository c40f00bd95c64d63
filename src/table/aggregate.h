/*
 * One column of values as they come, and what is asked of them at the end.
 *
 *   mean max min sum len std first last        of the values that are there; std is the population's
 *   median p95 p99.9 ...                       percentiles (quantile.h)
 *   time_mean                                  each value weighs as long as the interval it stands for; the mean where
 *                                              no interval is known
 *   duration                                   largest less smallest
 *
 * Whole numbers stay whole: max, min, sum, first, last, duration, and a mean that comes out even.
 */
#pragma once

#include "record/problem.h"
#include "table/quantile.h"

enum aggregate_kind {
	AGGREGATE_MEAN,
	AGGREGATE_MAX,
	AGGREGATE_MIN,
	AGGREGATE_SUM,
	AGGREGATE_LEN,
	AGGREGATE_STD,
	AGGREGATE_FIRST,
	AGGREGATE_LAST,
	AGGREGATE_DURATION,
	AGGREGATE_TIME_MEAN,
	AGGREGATE_PERCENTILE,
};

struct aggregate {
	enum aggregate_kind kind;
	double fraction; /* of a percentile */
};

/* -EINVAL: no such aggregate; the problem lists them. */
int aggregate_find(const char *name, struct aggregate *ret_aggregate, struct rt_problem *problem);

struct values {
	int64_t count;
	bool real;       /* one of them was */
	bool overflowed; /* the whole sum does not fit */
	int64_t whole_sum;
	double sum, lost;     /* Neumaier: the sum and what rounding took from it */
	double mean, squares; /* Welford: around which the squares are summed */
	double weighted, weights;
	bool first_unweighted; /* nobody knows yet how long the first value stands for */
	struct rt_cell least, most, first, last;
	bool keep_quantiles; /* set before the first value if a percentile will be asked for */
	struct quantile quantile;
};

/* Empty cells, texts, NaN and infinities are passed over. `weight`: seconds, NaN when unknown. */
int values_add(struct values *values, struct rt_cell cell, double weight);
/* How long the first value stands for, once that is known; nothing where values_add() was told. */
void values_weigh_first(struct values *values, double weight);
/* RT_CELL_NONE without values. */
struct rt_cell values_get(struct values *values, struct aggregate aggregate);
void values_done(struct values *values);

/* `value` to so many decimals as Python rounds: the exact binary value, halves to even. */
double round_like_python(double value, int decimals);

static inline double cell_real(struct rt_cell cell, double otherwise)
{
	return cell.type == RT_CELL_REAL    ? cell.real
	       : cell.type == RT_CELL_COUNT ? (double)cell.count
					    : otherwise;
}
