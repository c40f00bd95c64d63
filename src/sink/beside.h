/*
 * A process that keeps a file on a file system that may hang: it opens, writes and closes in the recorder's place. Records,
 * each behind its length (4 bytes; 0 asks for another file under the name), go to it over a socket that never makes the recorder wait, and it says what happened in memory that both share. If its
 * file system hangs, it stays behind, and finishes the file as soon as the file system answers.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "sink/file_target.h"

enum { BESIDE_MESSAGE_BYTES = 512 };

struct beside_page {
	_Atomic int opened; /* 0: not yet; 1, or why not, a negative errno */
	_Atomic bool is_whole;
	_Atomic unsigned lost; /* how often the file had lost its name */
	_Atomic unsigned said, heard;
	_Atomic uint64_t dropped;
	bool is_file; /* no FIFO or device. Valid once it is open, as the next two */
	int64_t size;
	struct target_opening opening;
	char message[BESIDE_MESSAGE_BYTES]; /* the recorder's while said == heard + 1 */
};

struct beside {
	struct beside_page *page;
	pid_t pid;
	int socket;
	unsigned seen_lost;
	bool has_ended;
};

/*
 * Starts the process and waits a quarter of a second for the opening. Returns 0 if the file is open or will be, or a
 * negative errno with one line for the user. `options` and `path` are used by the process. `open_fd`: that of a standard stream, else -1.
 */
int beside_open(const char *path, int open_fd, const struct target_options *options,
		struct beside *ret_beside, char *ret_message, size_t message_size);

/* Tells that no record follows. Returns whether all were written and the file was closed before the deadline. */
bool beside_finish(struct beside *beside, int64_t deadline_ns);

/* Copies a message. False: there is none. */
bool beside_take_message(struct beside *beside, char *ret_message, size_t message_size);

/* Frees what the recorder has of it, but its socket. */
void beside_done(struct beside *beside);
