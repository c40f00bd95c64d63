/*
 * The caller's end of the connection to a recorder in another process. helper_cli/remote_recorder.c is the other end. Calls on
 * one client must not overlap: the tracker's lock is held.
 */
#pragma once

#include <sys/types.h>

#include "remote/remote_message.h"

struct remote_client {
	pid_t pid;
	int socket;
	bool broken; /* question and answer are out of step, or the other process has gone */
	struct buffer answer;
};

#define REMOTE_CLIENT ((struct remote_client){.socket = -1, .answer = BUFFER((size_t)16 << 20)})

/* Starts the helper program as a recorder. -ENOENT: it is not installed. */
int remote_client_start(struct remote_client *client, char *const *environment);

/*
 * Returns the result of the answer. The rest of the answer is in *message, its payload in client->answer until the next
 * question. -EPIPE: the other process has gone; -ETIMEDOUT: no answer in 20 s.
 */
int64_t remote_client_ask(struct remote_client *client, struct remote_message *message, const void *payload);

/* Closes the connection. The recorder then ends its recording by itself. */
void remote_client_close(struct remote_client *client);
