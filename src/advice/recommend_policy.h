/*
 * How much memory to reserve from the peaks of earlier runs: pure functions of the peaks.
 *
 * The newest POLICY_RUNS runs count. RT_POLICY_MAX takes the largest of them and 20 %. Where the peaks rise from run to
 * run, it takes what the next one will come to, if that is more. Where the newest ten or more all took less than any run
 * before them, the earlier ones are forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "resource_tracker_analysis.h"

enum { POLICY_RUNS = 50 };

struct peak {
	double mib, secs;
};

enum drift { DRIFT_NONE, DRIFT_UP, DRIFT_DOWN };

struct reservation {
	double mib;    /* to reserve; NaN: there is no peak */
	double base;   /* before the margin */
	double margin; /* 0.2: a fifth */
	size_t runs;   /* that counted */
	enum drift drift;
};

/* `peaks` from the oldest to the newest. */
struct reservation policy_reserve(enum rt_policy policy, const struct peak *peaks, size_t count);

/* Each run but the first, with what those before it would have advised. */
struct backtest {
	size_t runs, killed;
	double reserved_per_used; /* NaN: no runs */
};
struct backtest policy_backtest(enum rt_policy policy, const struct peak *peaks, size_t count);
