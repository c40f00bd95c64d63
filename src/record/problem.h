/*
 * What went wrong, as one line for a person: it names the file, the line and what to do.
 *
 * Functions that can fail for a reason that an errno does not tell take a `struct rt_problem *`, which may be NULL.
 */
#pragma once

#include "resource_tracker_analysis.h"

/* Fills the line in and returns `error` (a negative errno), so that callers can return it. */
int problem_set(struct rt_problem *problem, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
