/* From raw to meaning: a pure function of earlier frames and this one. */
#pragma once

#include "metric/frame.h"

/*
 * Computes every derived metric of `frame`: deltas and exact rates since `previous`, windowed rates since
 * `window`, which is at least 100 ms older (or the oldest there is). Both may be NULL: the metrics are then
 * absent. Real deltas are differences of totals rounded to the metric's decimals, so that the sum of what
 * is printed is what the totals say. A negative change is absent (ABSENT_COUNTER_RESET).
 */
void derive(struct frame *frame, const struct frame *previous, const struct frame *window);

/* `value` rounded half up to a number of decimals. */
double round_to(double value, int decimals);
