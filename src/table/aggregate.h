/*
 * Aggregates one column: it takes values one by one and computes the aggregates at the end.
 *
 *   mean max min sum len std first last   of the present values; std is the population's
 *   median p95 p99.9 ...                  percentiles (quantile.h)
 *   time_mean                             weighed by interval; the mean if all are unknown
 *   duration                              largest less smallest
 *
 * Whole numbers stay whole: max, min, sum, first, last, duration, and a mean without a fraction.
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

/* Returns -EINVAL for an unknown aggregate. The problem lists the known ones. */
int aggregate_find(const char *name, struct aggregate *ret_aggregate, struct rt_problem *problem);

struct values {
	int64_t count;
	bool real;       /* at least one value was real */
	bool overflowed; /* the whole sum does not fit */
	int64_t whole_sum;
	double sum, lost;     /* Neumaier's sum, and the part lost to rounding */
	double mean, squares; /* Welford: the running mean and the squares around it */
	double weighted, weights;
	bool first_unweighted; /* the first value's interval is not known yet */
	struct rt_value least, most, first, last;
	bool keep_quantiles; /* set before the first value if a percentile will be needed */
	struct quantile quantile;
};

/* Adds a value. Empty cells, texts, NaN and infinities are skipped. `weight`: seconds, NaN if unknown. */
int values_add(struct values *values, struct rt_value cell, double weight);
/* Sets the weight of the first value, once it is known. Does nothing if values_add() got it. */
void values_weigh_first(struct values *values, double weight);
/* Returns RT_TYPE_NONE without values. */
struct rt_value values_get(struct values *values, struct aggregate aggregate);
void values_done(struct values *values);

/* Rounds to `decimals` as Python does: the exact binary value, ties to even. */
double round_like_python(double value, int decimals);

static inline double cell_real(struct rt_value cell, double otherwise)
{
	return cell.type == RT_TYPE_REAL    ? cell.real
	       : cell.type == RT_TYPE_COUNT ? (double)cell.count
					    : otherwise;
}
