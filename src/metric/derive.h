/* From raw to meaning: a pure function of earlier frames and this one. */
#pragma once

#include "metric/frame.h"

/* The earlier frames that this one is held against. Each may be NULL: what needs it is then absent. */
struct earlier_frames {
	const struct frame *deltas; /* the last one */
	const struct frame *rates;  /* of exact rates: the last one, but at the end of a run (see derive()) */
	const struct frame *window; /* at least 100 ms older, or the oldest there is */
};

/*
 * Computes every derived metric of `frame`: deltas, exact rates and windowed rates, each since its earlier frame. Real
 * deltas are differences of totals rounded to the metric's decimals, so that the sum of what is printed is what the
 * totals say. A negative change is absent (ABSENT_COUNTER_RESET).
 *
 * The end of a run falls anywhere between two ticks, and what is only known then (the rest of a clock tick of children
 * that were waited for) would be a rate of many cores over the microsecond that is left: where that is little of an
 * interval, `rates` is the window's.
 */
void derive(struct frame *frame, const struct earlier_frames *earlier);

/* `value` rounded half up to a number of decimals. */
double round_to(double value, int decimals);
