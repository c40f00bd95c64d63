/*
 * Streaming: resource-tracker-net (the follower) reads the recording from disk while it grows. The recorder
 * has three tasks: provide a file to follow, start the follower, and tell it when the recording ends.
 *
 * The file is the first JSON Lines output that is a regular file. If there is none, it is one more output in
 * the spool (NAME.spool, mode 0600), which the follower removes when everything is sent. The connection
 * closes when the recorder exits, for any reason, and that tells the follower of the end. The follower's own
 * exit is seen in the same way. Until all of a recording elsewhere is sent, a link in the spool (RUNID-OFFSET.spool) leads to it:
 * `upload` finds the run by it, even if the follower was killed before it wrote its state. The follower sends its messages over it, one a line. When all is sent it
 * writes "answer " with the server's JSON object, if the server sent one, and the line "sent".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct rt_tracker;

struct streaming {
	int socket_fd; /* -1: no follower */
	pid_t pid;
	bool told;       /* that the recording has ended */
	int64_t told_ns; /* CLOCK_MONOTONIC */
	bool gone;
	bool sent;
	bool has_told_command; /* to send what is left */
	char *link;            /* in the spool, NULL for none */
	char *command;         /* which sends what is left. NULL: no follower was started */
	struct buffer said;    /* the beginning of a line that is still incomplete */
	char *answer; /* the server's answer to the end of the run, one line of JSON, NULL for none */
};

#define STREAMING ((struct streaming){.socket_fd = -1})

/*
 * Call after the outputs were opened. `environment` is for the follower. NULL: our own. A failure becomes a
 * warning, and the run is not streamed.
 */
void streaming_open(struct rt_tracker *tracker, char *const *environment);

/* Turns the follower's messages into warnings. Never blocks. */
void streaming_hear(struct rt_tracker *tracker);

/* Tells the follower that the recording is over. Only the first call has an effect. */
void streaming_tell_end(struct rt_tracker *tracker);

/* Closes the connection. In a forked child, the follower stays the parent's. */
void streaming_close(struct rt_tracker *tracker);
