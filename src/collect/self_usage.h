/* The cost of recording, if sampling moves to a thread of another program. */
#pragma once

#include "collect/collector.h"

/* Sets the cost in the last frame to the value until now, of the tracker's thread only. */
void self_usage_begin(const struct collect_context *context, struct frame *frame);
