/*
 * The steps of one workflow: the runs in folders, recordings and files of runs, by the time of their start.
 *
 * In a folder each recording is a step, also below it and in the hidden `.resource-tracker` of the recording shell. A recording that
 * cannot be read is named in `damaged`: no step is lost without a word. A run that has a line in a file of runs as well counts once. A step without a time of its own is damaged as well.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/problem.h"

/* NaN: unknown. Texts belong to `line`, the line of the run (history/run_line.h). */
struct flow_step {
	json_t *line;
	const char *rule; /* the part of the workflow that is done for several inputs: the name of the run */
	const char *task; /* which of them. "": the rule alone */
	const char *needs,
		*makes; /* names, with a blank between two: its tags "needs" and "makes". NULL: it does not tell them */
	const char *outcome;   /* "ok", "failed", "oom", ... */
	const char *host;      /* "": unknown */
	char *path;            /* of its recording. NULL: a line of a file of runs without one */
	double started, ended; /* seconds since 1970, by the clock of its host */
	double wall_secs, cpu_secs, cores_mean, cores_max, cores_asked, cores_limit;
	double memory_peak_mib, memory_asked_mib, memory_limit_mib;
	double gpu_mean, gpu_held_idle_hours;
	size_t attempt;       /* from 1, of the steps of one rule and task in the order of their starts */
	size_t failed_before; /* the place of the attempt before it, if there is one */
	bool is_last;         /* attempt */
};

struct damaged_step {
	char *path, *why;
};

struct steps {
	struct flow_step *list; /* by start, and then by name */
	size_t count, room;
	struct damaged_step *damaged;
	size_t damaged_count, damaged_room;
};

/* Reads the steps of all paths. -ENODATA: there is none that can be read. steps_done() follows, also after an error. */
int steps_read(struct steps *steps, const char *const *paths, size_t count, struct rt_problem *ret_problem);
void steps_done(struct steps *steps);

static inline void cleanup_steps(struct steps *steps)
{
	steps_done(steps);
}
#define CLEANUP_STEPS __attribute__((cleanup(cleanup_steps)))

/* Whether a step ended as it should. */
bool flow_step_is_good(const struct flow_step *step);
