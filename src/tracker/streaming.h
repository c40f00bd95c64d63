/*
 * Streaming: resource-tracker-net follows on disk what is recorded. All that the recorder does for it is to see that
 * there is a file to follow, to start it, and to tell it of the end.
 *
 * The file is the first JSON Lines output that is a regular file, else one more output in the spool (NAME.spool, mode
 * 0600), which the follower removes when all is sent. The connection tells the follower of the end, however we
 * end, and us of its end; on it come its messages, a line each, and at last, when nothing is left, "answer " with
 * the server's JSON object, if it sent one, and the line "sent".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct rt_tracker;

struct streaming {
	int socket_fd; /* -1: there is no follower */
	pid_t pid;
	bool told;       /* of the end */
	int64_t told_ns; /* CLOCK_MONOTONIC */
	bool gone;
	bool sent;
	struct buffer said; /* what came of a line that is not whole yet */
	char *answer;       /* of the server to the end of the run, one line of JSON; NULL: none */
};

#define STREAMING ((struct streaming){.socket_fd = -1})

/* After the outputs were opened; with this environment (NULL: ours). What fails is a warning, and the run is not streamed. */
void streaming_open(struct rt_tracker *tracker, char *const *environment);

/* Makes warnings of what the follower has said; never blocks. */
void streaming_hear(struct rt_tracker *tracker);

/* Tells it that the recording is over; once. */
void streaming_tell_end(struct rt_tracker *tracker);

/* Lets go of it. In a forked child it goes on being ours. */
void streaming_close(struct rt_tracker *tracker);
