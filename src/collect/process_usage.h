/* The collector of the tracked process tree. */
#pragma once

#include "metric/frame.h"
#include "metric/selection.h"

/*
 * A job was just started: its use from the first instruction belongs to the next sample, so the totals in the
 * previous frame become 0.
 */
void process_usage_begin(struct frame *frame);

/* Whether the tree has to follow how long its threads wait for a CPU (job/cpu/process_waiting.h). */
bool process_usage_follows_waiting(const struct selection *selection);
