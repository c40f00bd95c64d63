/* Counts how long a value was how high. See shape.h. */
#include "summary/shape.h"

#include <math.h>

static const double LEAST = 0.005, STEP = 1.02, WINDOW_SECS = 10;

static size_t shape_class(double value)
{
	double place = value > LEAST ? 1 + log(value / LEAST) / log(STEP) : 0;

	return place < SHAPE_CLASSES - 1 ? (size_t)place : SHAPE_CLASSES - 1;
}

/* With many samples, marks are a part of the window apart, so that the ring always has room for a window. */
static void add_shape_mark(struct shape *shape)
{
	size_t last = (shape->first_mark + shape->mark_count - 1) % SHAPE_MARKS;

	if (shape->mark_count &&
	    shape->now.secs - shape->marks[last].secs < 2 * WINDOW_SECS / (double)SHAPE_MARKS)
		return;
	if (shape->mark_count == SHAPE_MARKS) {
		shape->first_mark = (shape->first_mark + 1) % SHAPE_MARKS;
		shape->mark_count--;
	}
	shape->marks[(shape->first_mark + shape->mark_count++) % SHAPE_MARKS] = shape->now;
}

/* Drops marks before the last one that is at least ten seconds back. */
static void follow_window(struct shape *shape)
{
	for (; shape->mark_count; shape->first_mark = (shape->first_mark + 1) % SHAPE_MARKS) {
		size_t next = (shape->first_mark + 1) % SHAPE_MARKS;

		if (shape->mark_count == 1 || shape->now.secs - shape->marks[next].secs < WINDOW_SECS)
			break;
		shape->mark_count--;
	}
	if (shape->mark_count) {
		double secs = shape->now.secs - shape->marks[shape->first_mark].secs;
		double mean = (shape->now.weighted - shape->marks[shape->first_mark].weighted) / secs;

		if (secs >= WINDOW_SECS && mean > shape->busiest)
			shape->busiest = mean;
	}
}

void shape_add(struct shape *shape, double length_secs, double value)
{
	size_t place;

	if (!(length_secs > 0) || !(value >= 0) || !isfinite(value * length_secs))
		return;
	place = shape_class(value);
	add_shape_mark(shape);
	shape->secs[place] += length_secs;
	shape->weighted[place] += value * length_secs;
	shape->total_secs += length_secs;
	shape->now.secs += length_secs;
	shape->now.weighted += value * length_secs;
	follow_window(shape);
}

void shape_merge(struct shape *shape, const struct shape *other)
{
	for (size_t i = 0; i < SHAPE_CLASSES; i++) {
		shape->secs[i] += other->secs[i];
		shape->weighted[i] += other->weighted[i];
	}
	shape->total_secs += other->total_secs;
	shape->busiest = fmax(shape->busiest, other->busiest);
}

static double class_mean(const struct shape *shape, size_t place)
{
	return shape->weighted[place] / shape->secs[place];
}

double shape_quantile(const struct shape *shape, double fraction)
{
	double below = 0, value = NAN;

	for (size_t i = 0; i < SHAPE_CLASSES; i++) {
		if (!(shape->secs[i] > 0))
			continue;
		value = class_mean(shape, i);
		below += shape->secs[i];
		if (below >= fraction * shape->total_secs)
			break;
	}
	return value;
}

double shape_share_above(const struct shape *shape, double value)
{
	double above = 0;

	for (size_t i = 0; i < SHAPE_CLASSES; i++)
		if (shape->secs[i] > 0 && class_mean(shape, i) > value)
			above += shape->secs[i];
	return shape->total_secs > 0 ? above / shape->total_secs : (double)NAN;
}

double shape_stretch(const struct shape *shape, double cap)
{
	double secs = 0;

	for (size_t i = 0; i < SHAPE_CLASSES; i++)
		if (shape->secs[i] > 0)
			secs += fmax(shape->secs[i], shape->weighted[i] / cap);
	return shape->total_secs > 0 ? secs / shape->total_secs : (double)NAN;
}

double shape_cap(const struct shape *shape, double stretch)
{
	double low = 0, high = shape_quantile(shape, 1);

	if (!(high > 0))
		return high;
	while (high - low > high / 200) {
		double middle = (low + high) / 2;

		*(shape_stretch(shape, middle) <= stretch ? &high : &low) = middle;
	}
	return high;
}
