/* What the recording costs, when it turns out to happen in a thread of somebody else's program. */
#pragma once

#include "collect/collector.h"

/* Makes the last frame say what the cost was until now, of the tracker's thread alone. */
void self_usage_begin(const struct collect_context *context, struct frame *frame);
