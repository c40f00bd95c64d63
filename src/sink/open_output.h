/*
 * Opening an output by name without losing, overwriting or leaking anything.
 *
 *  - What an earlier run recorded is kept: a recording becomes FILE.1, FILE.2, ... (first free number), unless the
 * new records are to be appended, for which a torn end is repaired first. Any other file with content is refused.
 *  - A file that a live recording holds (flock) is refused before anything is renamed.
 *  - In a folder that everyone may write to (/tmp) no symbolic link is followed and nothing that
 *    another user has put there is used.
 *  - Nothing waits: a FIFO without a reader is opened all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink/tail_repair.h"

struct output_options {
	bool append;           /* to what is there, instead of renaming it */
	enum record_text text; /* what a torn end looks like */
	const char
		*csv_head; /* the header that CSV which is appended to must have, newline or not; NULL: any */
};

struct opened_output {
	int fd;                  /* the caller's; close-on-exec, above 2 */
	bool regular;            /* opened with O_APPEND, locked where the file system can; else O_NONBLOCK */
	bool no_reader_yet;      /* a FIFO: writing gives EPIPE until somebody opens it */
	bool had_content;        /* after the repair: a CSV file has its header already */
	unsigned renamed_number; /* the earlier recording is now FILE.N; 0 if there was none */
	struct tail_repair repair;
};

/*
 * Returns 0, or a negative errno with one line for the user in ret_message (file, reason, remedy):
 * -EBUSY for a file that is being recorded to, -ENOENT for a missing folder, -EISDIR, -ELOOP and -EEXIST for
 * symbolic links that are not followed, -EEXIST for a file that is no recording, and what open() says.
 */
int open_output(const char *path, const struct output_options *options, struct opened_output *ret_output,
		char *ret_message, size_t message_size);

/* Writes one line into a message array; control characters, which file names may hold, become '?'. */
void output_message(char *ret_message, size_t message_size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The path, or the end of one that would leave no room for anything else in a message. */
const char *output_shown_path(const char *path);
