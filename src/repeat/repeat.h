/*
 * Repeated runs of one command, or of two that are compared: figures of each run from its recording, their spread, the runs that stand
 * apart, and the verdict. analysis/repeat_runs.c makes the recordings.
 */
#pragma once

#include "compare/compare.h"
#include "figures/run_figures.h"
#include "record/problem.h"
#include "repeat/instructions.h"
#include "repeat/repeat_statistics.h"

struct repeat_run {
	size_t side;                               /* 0 or 1 */
	int status;                                /* as from waitpid() */
	char *path;                                /* of its recording */
	unsigned number;                           /* in the history, or 0 */
	bool never_began;                          /* the command could not be started */
	struct rt_value figures[RUN_FIGURE_COUNT]; /* texts among them are left out */
	unsigned measures;                         /* of memory, as in struct compared_value */
	struct counted_instructions instructions;  /* in user mode */
};

struct repeat {
	const char *commands[2]; /* as they were typed */
	size_t side_count;
	bool counts_failed; /* the figures of failed runs count */
	struct repeat_run *runs;
	size_t count, capacity;
};

/* Adds a run and reads its figures from the recording: path, side, status and instructions are given. */
int repeat_add(struct repeat *repeat, struct repeat_run run, struct rt_problem *ret_problem);
void repeat_done(struct repeat *repeat);

/* Whether its figures count. */
bool repeat_counts(const struct repeat *repeat, const struct repeat_run *run);

/* The figures of both sides with their spread. The second side may have no run. -ENOMEM */
int repeat_compare(const struct repeat *repeat, rt_comparison **ret_comparison);
const struct compared *repeat_figure(const rt_comparison *comparison, const char *name);

/* Its only figure that the recording does not have. */
static const char INSTRUCTIONS_FIGURE[] = "user_instructions", INSTRUCTIONS_UNIT[] = "instructions";

/* The name of a figure that is an amount. NULL: another figure. */
const char *repeat_figure_name(enum run_figure_id figure);

/* All runs of a side that count, in order: values of a figure, NaN if unknown. Returns how many. `ret_values` has room for all runs. */
size_t repeat_values(const struct repeat *repeat, size_t side, enum run_figure_id figure, double *ret_values);
size_t repeat_instructions(const struct repeat *repeat, size_t side, double *ret_values);
/* Why the instructions of a run of this side are unknown. NULL: they are known of all. */
const char *instructions_unknown(const struct repeat *repeat, size_t side);

/* For people, and as JSON with the keys of hyperfine's --export-json. The caller frees the text. */
int repeat_for_screen(const struct repeat *repeat, int fd, const char *colour, char **ret_text);
int repeat_to_json(const struct repeat *repeat, char **ret_text);
/* One sentence about the difference in time. Nothing without two sides. */
void repeat_add_verdict(struct buffer *out, const rt_comparison *comparison);
