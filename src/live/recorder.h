/* A recorder of the live view's own: its samples come by a pipe, and it ends with the view. */
#pragma once

#include <sys/types.h>

#include "base/buffer.h"

enum { RECORDER_WORDS_BYTES = 4096 };

struct own_recorder {
	pid_t pid;       /* 0: none, or it has been reaped */
	int samples_fd;  /* -1: none */
	int messages_fd; /* its standard error */
	struct buffer messages;
	int status; /* of waitpid(), once pid is 0 */
};

/* Starts it with the words of its command line, which end with NULL. Returns 0 or a negative errno. */
int recorder_start(struct own_recorder *ret_recorder, const char *const *words);
/* Reads what it says. Call when messages_fd is readable. */
void recorder_listen(struct own_recorder *recorder);
/* Whether it has ended. Then it has been reaped. */
bool recorder_has_ended(struct own_recorder *recorder);
/* Ends it, waits for a moment until it has ended, and releases everything. */
void recorder_stop(struct own_recorder *recorder);
