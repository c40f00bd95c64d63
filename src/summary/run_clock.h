/*
 * The clock of a run, which nothing sets: it places times of the wall clock on the monotonic one.
 *
 *	elapsed       0.0      1.0      2.0          3.0
 *	wall clock    10:00:00 10:00:01 next day, 10:00:02 ...
 *
 * A mark of 10:00:01.5 lies 1.5 s after the start, and one of the next day, 10:00:02.5, lies 2.5 s after it. Times are told as
 * the wall clock would have shown them if it had not been set since the first sample.
 */
#pragma once

#include <stddef.h>

/* The wall clock differs from the run's by `offset` from about here on. */
struct clock_state {
	double before,
		first; /* elapsed time of the sample before, and of the first sample with this offset */
	double offset;
};

struct run_clock {
	struct clock_state *list;
	size_t count, room;
	double elapsed_secs; /* of the last sample */
};

/* Adds the times of the next sample. Returns 0 or -ENOMEM. */
int run_clock_add(struct run_clock *clock, double elapsed_secs, double timestamp);
void run_clock_clear(struct run_clock *clock); /* before another run */
void run_clock_done(struct run_clock *clock);

/* Returns the time of a sample that is this long after the start. */
double run_clock_at(const struct run_clock *clock, double elapsed_secs);
/*
 * Returns the time of a moment that had this time stamp. NaN: it was not during the run. If the clock was set back, a time stamp
 * occurs twice: the first moment that is not before `earlier` counts.
 */
double run_clock_place(const struct run_clock *clock, double timestamp, double earlier);
