/* Derives metrics from raw values: a pure function of this frame and earlier ones. */
#pragma once

#include "metric/frame.h"

/* The earlier frames to compare with. If one is NULL, the metrics that need it are absent. */
struct earlier_frames {
	const struct frame *deltas; /* the last frame */
	const struct frame *rates;  /* for exact rates: the last frame, but see derive() */
	const struct frame *window; /* at least 100 ms older, or else the oldest one */
};

/*
 * Computes every derived metric of `frame`: deltas, exact rates and windowed rates, each since its earlier
 * frame. Deltas of reals are differences of totals rounded to the metric's decimals, so that printed deltas
 * add up to printed totals. A negative change is absent (ABSENT_COUNTER_RESET).
 *
 * A run ends anywhere between two ticks, and some CPU time becomes known only then (the rest of a clock tick
 * of children that were waited for). As a rate over the microsecond since the last sample it would look like
 * many cores. So if the last interval is much shorter than the configured one, `rates` is the window's frame.
 */
void derive(struct frame *frame, const struct earlier_frames *earlier);

/* Rounds `value` half up to a number of decimals. */
double round_to(double value, int decimals);
