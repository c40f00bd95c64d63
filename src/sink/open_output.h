/*
 * Opens an output by name without losing, overwriting or leaking data.
 *
 * - Earlier recordings are kept: a recording becomes FILE.1, FILE.2, ... (first free number), unless the new
 *   records are appended; then a torn end is repaired first. Any other file with content is refused.
 * - A file that a live recording holds (flock) is refused before any file is renamed.
 * - In a folder to which all users may write (/tmp), symbolic links are not followed and files of other users are
 *   not used.
 * - Opening never waits: a FIFO without a reader is opened, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/runs_once.h"
#include "sink/tail_repair.h"

struct output_options {
	bool append;           /* to an existing recording, instead of renaming it */
	enum line_format text; /* the format, for recognising a torn end */
	const char *csv_head;  /* header that an existing CSV must have, with or without newline. NULL: any */
	bool fresh;            /* -EEXIST for a name that is taken, unless `append` */
};

struct opened_output {
	int fd;                  /* the caller's; close-on-exec, above 2 */
	bool regular;            /* O_APPEND, and locked if the file system can. false: O_NONBLOCK */
	bool no_reader_yet;      /* a FIFO: writing gives EPIPE until a reader opens it */
	bool had_content;        /* after the repair: a CSV file already has its header */
	bool is_new;             /* it did not exist, or was renamed. false for the target of a link */
	unsigned renamed_number; /* the earlier recording is now FILE.N, 0 for none */
	struct tail_repair repair;
};

/*
 * Returns 0, or a negative errno with one line for the user in ret_message (file, reason, remedy): -EBUSY for a
 * file that is being recorded to, -ENOENT for a missing folder, -EISDIR, -ELOOP and -EEXIST for symbolic links
 * that are not followed, -EEXIST for a file that is not a recording or, if `fresh`, any, and the errors of open().
 */
RUNS_ONCE int open_output(const char *path, const struct output_options *options,
			  struct opened_output *ret_output, char *ret_message, size_t message_size);

/* Formats one line into a message array. Control characters in file names become '?'. */
void output_message(char *ret_message, size_t message_size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the path, or only its end if it would fill the message. */
const char *output_shown_path(const char *path);
