/*
 * A point in time, as people write it:
 *
 *   2026-11-21T12:00:00   a blank may replace the T; seconds may be missing or have a fraction;
 *                         followed by Z or +01:00, else local time
 *   12:30   12:30:15      local time, its next occurrence
 *   +90                   seconds from now
 *   @1795262400.5         seconds since 1970
 */
#pragma once

#include <stdint.h>

#include "base/runs_once.h"

/* Both times are CLOCK_REALTIME. Returns 0 or -EINVAL. */
RUNS_ONCE int parse_start_at(const char *text, int64_t now_ns, int64_t *ret_ns);
