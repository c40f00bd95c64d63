/*
 * Computes the memory to reserve from the peaks of earlier runs, in pure functions.
 *
 * The newest POLICY_RUNS runs count. RT_POLICY_MAX takes the largest peak plus 20 %. If the peaks rise from
 * run to run, it takes the extrapolated next peak if that is larger. If the newest ten or more runs all took
 * less than any run before them, it forgets the earlier ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resource_tracker_analysis.h"

enum { POLICY_RUNS = 50, LEAST_MIB = 128 /* of a reservation */ };

struct peak {
	double mib, secs;
};

enum drift { DRIFT_NONE, DRIFT_UP, DRIFT_DOWN };

struct reservation {
	double mib;    /* to reserve. NaN: no peaks */
	double base;   /* before the margin */
	double margin; /* 0.2: a fifth */
	size_t runs;   /* runs that counted */
	enum drift drift;
};

/* `peaks` are ordered from oldest to newest. */
struct reservation policy_reserve(enum rt_policy policy, const struct peak *peaks, size_t count);

/* Checks each run but the first against the advice from the runs before it. */
struct backtest {
	size_t runs, killed;
	double reserved_per_used; /* NaN: no runs */
};
struct backtest policy_backtest(enum rt_policy policy, const struct peak *peaks, size_t count);

/* Rounds memory up to the next step of reservations. A step adds at most a quarter. The least is 128 MiB. */
int64_t round_reservation_mib(double mib);
