/*
 * Phases of jobs, with their start and stop times, read from marks.
 *
 * A start and a stop are matched by their owner, never by their order in the file: by host and id if the mark
 * has an id, else by host, process and name, the innermost first. The files are those of `resource-tracker
 * mark` (format/mark_line.h), or gpu_tracker's sub-tracking files:
 *
 *	process_id,code_block_name,position,timestamp
 *	1723811,load,0,1745449609.7528222
 */
#pragma once

#include "summary/run_clock.h"
#include "record/problem.h"

struct phase_call {
	double start, stop; /* seconds since 1970, by the run's clock (run_clock.h) */
	bool open;          /* never stopped: `stop` is the end of the recording */
};

struct phase {
	char *name;
	struct phase_call *calls; /* sorted by start */
	size_t call_count;
};

struct phases {
	struct phase *list; /* sorted by name */
	size_t count;
	size_t open_calls;      /* calls that were never stopped */
	size_t unmatched_stops; /* stops without a start */
	size_t bad_lines;
};

struct phase_time {
	double secs;       /* sum over all calls, including simultaneous ones */
	size_t open_calls; /* never stopped: they end with the recording */
};
struct phase_time phase_time_of(const struct phase *phase);

void phases_done(struct phases *phases);
#define CLEANUP_PHASES __attribute__((cleanup(phases_done)))

/*
 * Reads marks between `from` and `to`, because others belong to other runs in the same file. Open calls end
 * at `to`. Returns -ENOENT if the file does not exist.
 */
int phases_read_marks(const char *path, const struct run_clock *clock, double from, double to,
		      struct phases *ret_phases, struct rt_problem *problem);

/* Reads CSV or SQLite. Open calls are left out, as in gpu_tracker. */
int phases_read_sub_tracking(const char *path, struct phases *ret_phases, struct rt_problem *problem);
