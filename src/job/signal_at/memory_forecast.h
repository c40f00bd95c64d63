/*
 * Whether the memory of a job will reach its limit soon. It is pure: bench/signal_at plays recorded jobs through it.
 *
 * Example: a job has 880 of 1000 MiB, and has grown by 4 MiB/s for a minute. The limit is 30 s away, so a rule of 90 % is due now. After the
 * level alone the job would have 25 s to save its state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/signal_at/signal_at_tuning.h"

struct memory_forecast {
	struct {
		int64_t ns;
		double mib;
	} points[FORECAST_POINTS]; /* a ring */
	size_t count;              /* of all points so far */
};

/* Notes the memory at a time of CLOCK_MONOTONIC. */
void memory_forecast_add(struct memory_forecast *forecast, int64_t now_ns, double mib);

/*
 * Whether a rule for `share` of the limit is due, at the memory and time that were noted last. *ret_secs: when the limit will be reached, or
 * -1 if the level alone says so.
 */
bool memory_forecast_is_due(const struct memory_forecast *forecast, double limit_mib, double share,
			    double *ret_secs);
