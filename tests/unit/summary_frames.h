/* Samples that a test makes by hand, for tests of src/summary. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "metric/frame.h"
#include "metric/typed_rows.h"

static struct frame frame;

static inline int begin(void **state)
{
	(void)state;
	frame_begin(&frame, 0, 0);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

/* Begins a sample of `secs`. */
static inline void begin_sample(double elapsed_secs, double secs)
{
	frame_begin(&frame, 0, 0);
	frame.sample->elapsed_secs = elapsed_secs;
	frame.sample->actual_interval_ms = secs * 1000;
}

static inline void assert_about(double found, double expected)
{
	if (isnan(expected) ? !isnan(found) : !(fabs(found - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", found, expected);
}
