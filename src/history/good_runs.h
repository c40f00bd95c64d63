/*
 * Compares a run with the last good runs of its job, by their lines (run_line.h): the gate of a CI system.
 *
 * Good runs ended well, have the name and the task of the run, and began before it. Their scatter is the noise that a change has to
 * exceed (compare/compare.h).
 */
#pragma once

#include <stddef.h>

#include "compare/compare.h"
#include "base/buffer.h"
#include "record/problem.h"
#include "record/run_lines.h"

enum { GOOD_RUNS_MOST = 1000 };

struct good_runs {
	size_t count, other_cpus; /* runs that were found, and those of them with another CPU model */
	struct buffer job;        /* the name of the run, and its task: "build (test)" */
	struct lines_left_out left_out;
};

void good_runs_done(struct good_runs *good);

/*
 * `run` is the run with the name of its side, `runs` a file of lines, which may have the line of the run as well. `most`: of the newest runs.
 * The first side of the comparison has the good runs. Without one, its values are unknown.
 */
int good_runs_compare(const struct rt_compared_run *run, const char *runs, size_t most,
		      struct good_runs *ret_good, rt_comparison **ret_comparison,
		      struct rt_problem *ret_problem);
