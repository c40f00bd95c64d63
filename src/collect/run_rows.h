/* The collector of the run itself. A file that begins with a later sample needs the rows of the first one again. */
#pragma once

#include "collect/collector.h"

extern const struct collector RUN_COLLECTOR;

/* Adds run_start and the rows below it. `state` is that of RUN_COLLECTOR. */
void run_start_add(void *state, const struct collect_context *context, struct frame *frame);
