/*
 * An error as one line for a person: it names the file, the line and what to do.
 *
 * A function takes a `struct rt_problem *`, which may be NULL, if an errno alone does not explain its errors.
 */
#pragma once

#include "base/sized.h"
#include "resource_tracker_analysis.h"

/* Fills in the line and returns `error` (a negative errno), so that the caller can return it, too. */
int problem_set(struct rt_problem *problem, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Copies the options of a caller, NULL: all zero, into a struct of `size` bytes. See base/sized.h. `least` is its size in version
 * 0.1, and `name` its name in the header. Returns 0, -EINVAL or -E2BIG. TAKE_OPTIONS() takes the struct's name and its last
 * member in version 0.1.
 */
#define TAKE_OPTIONS(problem, ret_options, name, last, given) \
	problem_take_options(problem, ret_options, sizeof(struct name), SIZE_UP_TO(struct name, last), \
			     #name, given)
int problem_take_options(struct rt_problem *problem, void *ret_options, size_t size, size_t least,
			 const char *name, const void *given);
