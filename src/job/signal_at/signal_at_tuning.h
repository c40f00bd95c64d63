/* The numbers by which the need for an early signal is found. bench/signal_at tries them on recorded jobs. */
#pragma once

#include "base/clock.h"

enum {
	FORECAST_POINTS = 64,   /* readings that are kept, at least a second apart */
	TIMEOUT_DEPTH_MOST = 16 /* ancestors of the job among which a timeout(1) is looked for */
};

/* The growth of the last readings counts, and that over a longer time: a job that grows by steps needs both. */
#define FORECAST_SHORT_NS (12 * NSEC_PER_SEC)
#define FORECAST_LONG_NS (60 * NSEC_PER_SEC)
#define FORECAST_APART_NS (NSEC_PER_SEC - 50 * NSEC_PER_MSEC)
/* A job needs about half a minute to save its state. The rest is for growth that becomes faster. */
#define FORECAST_WARNS_SECS 60
/* Many jobs grow as fast and stop. So a forecast counts only above this part of the rule's level: in bench/signal_at 5 % of the jobs with a level 1 % above their peak get a signal in vain, and none of those with more room. */
#define FORECAST_FROM 0.97
/* The job's first process may become a timeout(1) after its start. */
#define LOOK_FOR_TIME_LIMIT_NS (10 * NSEC_PER_SEC)
