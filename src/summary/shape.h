/*
 * Counts how long a value was how high, in constant memory: the time in each of SHAPE_CLASSES classes of
 * about 2 %, and the largest mean over ten seconds. Two runs with the same mean may differ in shape: one core
 * all the time, or two cores half of the time.
 *
 *	struct shape shape = {0};
 *	shape_add(&shape, 3, 2.0);         two cores for 3 s
 *	shape_add(&shape, 3, 0.0);         nothing for 3 s
 *	shape_quantile(&shape, 0.99)       2
 *	shape_stretch(&shape, 1)           1.5: with one core it would take 9 s instead of 6
 */
#pragma once

#include <stddef.h>

enum { SHAPE_CLASSES = 800, SHAPE_MARKS = 64 };

struct shape {
	double secs[SHAPE_CLASSES];     /* time in each class */
	double weighted[SHAPE_CLASSES]; /* value x seconds in each class */
	double total_secs;
	double busiest; /* largest mean over at least ten seconds, or 0 in a shorter run */
	/* Points on the curve of value x seconds over time, at which windows of ten seconds begin. */
	struct {
		double secs, weighted;
	} now, marks[SHAPE_MARKS];
	size_t first_mark, mark_count;
};

/* Adds a value that held for `length_secs`. NaN, negative values and lengths of 0 are skipped. */
void shape_add(struct shape *shape, double length_secs, double value);
/* Adds the time of another shape. */
void shape_merge(struct shape *shape, const struct shape *other);

/* Returns the value that was not exceeded for this part of the time, to 2 %, NaN without values. */
double shape_quantile(const struct shape *shape, double fraction);
/* Returns the part of the time, 0 to 1, with a larger value, NaN without values. */
double shape_share_above(const struct shape *shape, double value);
/*
 * Returns how many times as long the same work takes if the value cannot exceed `cap`: the work above the cap
 * is done later. At least 1, NaN without values.
 */
double shape_stretch(const struct shape *shape, double cap);
/* Returns the least cap that makes it at most `stretch` times as long, to 1 %, NaN without values. */
double shape_cap(const struct shape *shape, double stretch);
