/*
 * Streaming: resource-tracker-net follows what is recorded, on disk. All that this program does for it is to see that
 * there is a file to follow, to start it before the job, and to wait for it a little at the end.
 *
 * On when SENTINEL_API_TOKEN is set. Without an output in a JSON file, the samples are also written to one in the
 * spool (NAME.spool, mode 0600), which the follower removes when all is sent.
 */
#pragma once

#include <sys/types.h>

#include "cli/front.h"

struct streaming {
	pid_t pid;  /* of the follower; 0: there is none */
	int end_fd; /* write end of the pipe whose closing tells it that the recording is over */
	double deadline_secs;
};

/* Whether an output is one that was added for streaming: it will not be there for long. */
bool is_spool(const char *path);

/* Before rt_open(): adds the output in the spool if one is needed. Whatever fails is said, and streaming is off. */
void streaming_prepare(struct front *front);

/* After rt_open(), before the job: starts the follower. */
void streaming_start(const struct front *front, rt_tracker *tracker, struct streaming *ret_streaming);

/* After rt_close(): waits until all is sent, for the deadline at most, or until SIGINT or SIGTERM. */
void streaming_finish(struct streaming *streaming);
