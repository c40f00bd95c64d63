/*
 * Statistics of a few measurements: their spread, those that stand apart, and how sure a difference of two means is.
 */
#pragma once

#include <stddef.h>

#include "compare/compare.h"

/* The middle value, or the mean of the two in the middle. NaN: there are none, or memory runs out. */
double median_of_values(const double *values, size_t count);

/*
 * How far a value is from the median, in units of the usual distance (1.4826 times the median distance, which is the deviation of a
 * normal distribution). 0 if all distances are equal. `ret_scores` has room for `count`. -ENOMEM
 */
int outlier_scores(const double *values, size_t count, double *ret_scores);
/* From this score on a run stands apart: about one in 2,000 of a normal distribution. Fewer runs than OUTLIER_RUNS show none. */
static const double OUTLIER_SCORE = 3.5;
enum { OUTLIER_RUNS = 5 };

/* The probability that Student's t is between -t and t. */
double student_confidence(double t, double freedom);

/* The means of two sides as a factor. */
struct speed_ratio {
	size_t faster;      /* the side with the smaller mean */
	double factor;      /* 1 or more: the larger mean divided by the smaller */
	double deviation;   /* of the factor of two single runs, as hyperfine gives it */
	double least, most; /* 95 % interval of the factor of the means */
	double confidence;  /* that the sides differ (Welch's test). NaN: a side has fewer than two runs */
};
/* False: a mean is unknown or not above 0. */
bool find_speed_ratio(const struct side_figure sides[static 2], struct speed_ratio *ret_ratio);
