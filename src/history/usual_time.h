/*
 * How long the last good runs of a job took: what `live` expects of one that goes on.
 *
 * Runs of the history with the name and the task of the run count that ended well, whatever their input was. Fewer than five say nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "record/reader.h"

enum { USUAL_RUNS_LEAST = 5, USUAL_RUNS_MOST = 100 };

struct usual_time {
	size_t count;                 /* 0: unknown */
	double secs[USUAL_RUNS_MOST]; /* in ascending order */
};

/* Finds the newest good runs. `record` has the identity of the run that goes on. Its `job_name` may be NULL, its `pid` absent. */
void usual_time_find(struct record *record, const char *job_name, int64_t pid, struct usual_time *ret_usual);
