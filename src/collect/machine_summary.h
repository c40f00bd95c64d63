/* The machine's rows of one frame as one plain struct of the public header. */
#pragma once

#include "metric/frame.h"
#include "resource_tracker.h"

/* Counts are -1 and times NaN where the frame has none. */
void machine_summary(const struct frame *frame, struct rt_system *ret_system);
