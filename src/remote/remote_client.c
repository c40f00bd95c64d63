/* The caller's end of a recorder in another process. See remote_client.h. */
#include "remote/remote_client.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "launch/detached.h"

/* A sample of a large tree may be taken before a question is answered. */
enum { PATIENCE_SECS = 20 };

int remote_client_start(struct remote_client *client, char *const *environment)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SECS};
	const char *const argv[] = {HELPER_PROGRAM.name, REMOTE_WORD, NULL};
	struct detached detached = {
		.program = &HELPER_PROGRAM, .argv = argv, .environment = environment, .silent = true};
	int error = detached_start(&detached, &client->socket, &client->pid);

	if (error < 0)
		return error;
	(void)setsockopt(client->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	(void)setsockopt(client->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	return 0;
}

int64_t remote_client_ask(struct remote_client *client, struct remote_message *message, const void *payload)
{
	int error = client->broken ? -EPIPE : remote_send(client->socket, message, payload);

	if (!error)
		error = remote_receive(client->socket, message, &client->answer);
	if (error < 0) {
		client->broken = true;
		return error;
	}
	return message->what;
}

void remote_client_close(struct remote_client *client)
{
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
	buffer_done(&client->answer);
}
