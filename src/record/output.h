/*
 * Where an export goes: a file that appears under its name only when it is whole, or a stream. Plain or gzip.
 *
 * What is not a regular file (a pipe, /dev/stdout) is written as it is.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "record/problem.h"

struct output_gzip;

struct output {
	char *path;
	char *temporary; /* NULL: written in place */
	int fd;
	struct output_gzip *gzip;
	struct buffer pending;
	int error; /* the first that happened; nothing is written after it */
};

/* "-" is standard output; NULL: everything stays in `pending`, where the caller takes it after output_finish(). */
int output_open(struct output *ret_output, const char *path, bool gzip, struct rt_problem *problem);

/* Appends what the buffer holds and empties it. Errors are kept until output_finish(). */
void output_write(struct output *output, struct buffer *bytes);

/* Writes what is left and gives the file its name. */
int output_finish(struct output *output, struct rt_problem *problem);
/* Removes what was not finished. */
void output_close(struct output *output);

/* A name beside `path` for a file that will be renamed to it; malloc'd, NULL without memory. */
char *output_temporary_name(const char *path);
