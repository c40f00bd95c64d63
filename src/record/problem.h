/*
 * What went wrong, as one line for a person: it names the file, the line and what to do.
 *
 * Functions that can fail for a reason that an errno does not tell take a `struct problem *`, which may be NULL.
 */
#pragma once

struct problem {
	char text[512];
};

/* Fills the line in and returns `error` (a negative errno), so that callers can return it. */
int problem_set(struct problem *problem, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
