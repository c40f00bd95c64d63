/*
 * One line of a file of marks: a phase of a job begins or ends.
 *
 *   {"timestamp_ns":1718000000123456789,"monotonic_ns":81234567,"event":"start","name":"load","id":"7-1","pid":7,
 *    "host":"node-1"}
 *
 * A line is one write(2) to a file that is only appended to, so that lines of many processes never mix.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

enum { MARK_NAME_BYTES = 1024 };

struct mark {
	bool start; /* else it stops */
	const char *name;
	const char *id; /* NULL: paired by process and name, the innermost first */
	pid_t pid;
	const char *host;
};

/* Appends the line with both clocks of now. */
void mark_line(struct buffer *out, const struct mark *mark);

/* Writes it: 0 or a negative errno. -ENAMETOOLONG: the name or the id is longer than MARK_NAME_BYTES. */
int mark_write(int fd, const struct mark *mark);

/*
 * The file for appending; a descriptor, -ENOENT when `path` is NULL or empty, or another negative errno. Never waits.
 *
 * In a folder that others control (base/trust.h) no link is followed and no file of another user is written to, unless
 * that user owns the folder or the recording: -ELOOP, -EACCES. A file that root makes beside a recording belongs to the
 * owner of the recording.
 */
int mark_open(const char *path);

/* Whether the marks beside a recording are a regular file, and one that mark_open() would write to. */
bool marks_can_be_read(const char *path);
