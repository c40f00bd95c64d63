/* The machine's rows of a frame as one plain struct of the public header. */
#pragma once

#include "metric/frame.h"
#include "resource_tracker.h"

/* Absent counts become -1, absent times NaN. */
void machine_summary(const struct frame *frame, struct rt_system *ret_system);
