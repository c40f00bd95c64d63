/*
 * Where an export goes: a file that appears under its name only when it is whole, or a stream. Plain or gzip.
 *
 * A pipe or a device is written as it is; /dev/stdout and /dev/fd/N are the descriptors themselves. Links are followed,
 * except those that another user may have planted in a folder like /tmp. A file that a recorder holds is refused.
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

/* Refuses (-EINVAL) an output that is one of the files that are read, or the marks beside one. */
int output_check_inputs(const char *path, const char *const *inputs, size_t count,
			struct rt_problem *problem);

/*
 * For a writer that opens files by name: where the links of `path` lead, and a new, empty file beside it that is to be
 * renamed to it, under a name that nobody can foresee. Both are malloc'd. -EINVAL: it is no regular file.
 */
int output_name_whole_file(const char *path, char **ret_name, char **ret_temporary,
			   struct rt_problem *problem);
