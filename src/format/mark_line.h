/*
 * One line of a file of marks: the beginning or end of a job's phase. "next" ends the phase that the last "next" of this host and id
 * began, and begins one.
 *
 *   {"timestamp_ns":1718000000123456789,"monotonic_ns":81234567,"event":"start","name":"load","id":"7-1","pid":7,
 *    "host":"node-1"}
 *
 * Each line is one write(2) to a file that is only appended to, so lines of many processes never mix.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

enum { MARK_NAME_BYTES = 1024 };

enum mark_event { MARK_START, MARK_STOP, MARK_NEXT };

struct mark {
	enum mark_event event;
	const char *name;
	const char *id; /* NULL: matched by process and name, innermost first */
	pid_t pid;
	const char *host;
};

/* Appends the line, with both clocks of this moment. */
void mark_line(struct buffer *out, const struct mark *mark);

/* Writes the mark. Returns 0 or a negative errno. -EINVAL: it has no name. -ENAMETOOLONG: the name or id is longer than MARK_NAME_BYTES. */
int mark_write(int fd, const struct mark *mark);

/*
 * Opens the file for appending. Returns a descriptor, -ENOENT if `path` is NULL or empty, or another negative
 * errno. Never waits.
 *
 * In a folder that others control (base/trust.h), links are not followed, and files of other users are not written
 * to unless that user owns the folder or the recording: -ELOOP, -EACCES. If root makes a file beside a recording,
 * the file belongs to the owner of the recording.
 */
int mark_open(const char *path);

/* Whether the marks beside a recording are a regular file to which mark_open() would write. */
bool marks_can_be_read(const char *path);
