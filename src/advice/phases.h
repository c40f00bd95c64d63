/*
 * Phases of jobs: which began and ended when, from what marked them.
 *
 * A start and a stop belong together by who marked them, never by their order in the file: by host and id, else by
 * host, process and name, the innermost first. Files are those of `resource-tracker mark` (format/mark_line.h), or
 * gpu_tracker's sub-tracking files:
 *
 *   process_id,code_block_name,position,timestamp
 *   1723811,load,0,1745449609.7528222
 */
#pragma once

#include "record/problem.h"

struct phase_call {
	double start, stop; /* seconds since 1970 */
	bool open;          /* it was never stopped: `stop` is when the recording ends */
};

struct phase {
	char *name;
	struct phase_call *calls; /* by their start */
	size_t call_count;
};

struct phases {
	struct phase *list; /* by name */
	size_t count;
	size_t open_calls;      /* never stopped */
	size_t unmatched_stops; /* never started */
	size_t bad_lines;
};

void phases_done(struct phases *phases);
#define CLEANUP_PHASES __attribute__((cleanup(phases_done)))

/*
 * Marks from `from` to `to`: others belong to other runs of the same file. Calls that are still open end at `to`.
 * -ENOENT: there is no such file.
 */
int phases_read_marks(const char *path, double from, double to, struct phases *ret_phases,
		      struct rt_problem *problem);

/* CSV or SQLite. Calls that are still open are left out, as gpu_tracker does. */
int phases_read_sub_tracking(const char *path, struct phases *ret_phases, struct rt_problem *problem);
