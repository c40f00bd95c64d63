/*
 * The output of an export: a file that appears under its name only when it is complete, or a stream. Plain or
 * gzip.
 *
 * A pipe or a device is written directly; /dev/stdout and /dev/fd/N are the descriptors themselves. Links are
 * followed, except those that another user may have planted in a folder like /tmp. A file that a recorder is
 * writing is refused.
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
	int error; /* the first error; nothing is written after it */
};

/*
 * Opens an output. "-" is standard output. With NULL everything stays in `pending`, and the caller takes it
 * after output_finish().
 */
int output_open(struct output *ret_output, const char *path, bool gzip, struct rt_problem *problem);

/* Appends the content of the buffer and empties it. output_finish() reports errors. */
void output_write(struct output *output, struct buffer *bytes);

/* Writes the rest and gives the file its name. */
int output_finish(struct output *output, struct rt_problem *problem);
/* Removes an unfinished file. */
void output_close(struct output *output);

/* Refuses (-EINVAL) an output that is one of the input files, or an input's marks. */
int output_check_inputs(const char *path, const char *const *inputs, size_t count,
			struct rt_problem *problem);

/*
 * For a writer that opens files by name: finds the name at the end of the links of `path`, and creates an
 * empty file beside it under an unpredictable name, which the writer later renames. Both names are malloc'd.
 * Returns -EINVAL if `path` is not a regular file.
 */
int output_name_whole_file(const char *path, char **ret_name, char **ret_temporary,
			   struct rt_problem *problem);

/* Renames the new file to `path`. The marks beside a recording that it replaces describe that one, and are removed. */
int output_rename(const char *temporary, const char *path);
