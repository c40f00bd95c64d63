/* Limits of a workflow's computation that a person chose. */
#pragma once

/* Two clocks, or the roundings of a start and a length, may be so far apart: a step may seem to begin before its input ended. */
#define CLOCKS_APART_SECS 0.02
/* An engine takes so many of its usual gaps to fill a slot that has become free, and at least this long. */
#define TURNOVER_GAPS 2
#define TURNOVER_LEAST_SECS 0.05
/* A rank that takes this part longer than the median is one that the others wait for. */
#define STRAGGLER_LEAST 0.05
/* The estimate of more slots: so many. */
#define MORE_SLOTS 4
