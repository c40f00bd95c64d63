/* The collector of the tracked process tree. */
#pragma once

#include "metric/frame.h"

/*
 * What a job that was just started uses from its first instruction on belongs to the next sample: in the frame
 * before, its totals are 0.
 */
void process_usage_begin(struct frame *frame);
