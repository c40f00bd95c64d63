/* Which process of the job failed first, and which failed at all. */
#pragma once

#include "base/runs_once.h"
#include "collect/collector.h"
#include "metric/typed_rows.h"

/* `oom_kills`: processes of the job that the kernel is known to have killed for lack of memory, -1 if unknown. */
RUNS_ONCE void first_failure_fill(const struct collect_context *context, struct frame *frame,
				  struct run_end_row *end, int64_t ended_ns, int64_t oom_kills);
