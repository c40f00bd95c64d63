/*
 * An error as one line for a person: it names the file, the line and what to do.
 *
 * A function takes a `struct rt_problem *`, which may be NULL, if an errno alone does not explain its errors.
 */
#pragma once

#include "resource_tracker_analysis.h"

/* Fills in the line and returns `error` (a negative errno), so that the caller can return it, too. */
int problem_set(struct rt_problem *problem, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
