/*
 * Writes to a pipe, a terminal or a socket without ever waiting for its reader.
 *
 * The job shares standard error and standard output. O_NONBLOCK belongs to the open file description, so setting
 * it there would change the job's stream as well. The ways, best first:
 *
 * - a description of our own, from opening /proc/self/fd/N again with O_NONBLOCK (pipes, terminals, devices);
 * - send(MSG_DONTWAIT) (sockets, which cannot be opened again);
 * - splice(SPLICE_F_NONBLOCK) out of a private pipe, for a pipe that must not be opened again because another user
 *   made it (su, containers), or if there is no /proc. The kernel checks and moves under one lock, so the job
 *   cannot fill the pipe in between;
 * - poll, then write less than poll reports room for: the last way for such a terminal. If the job fills it
 *   between the two calls, the write waits until the terminal takes a few more bytes.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum nowait_way {
	NOWAIT_OWN_DESCRIPTION,
	NOWAIT_SOCKET,
	NOWAIT_SPLICE,
	NOWAIT_POLL,
};

struct nowait_stream {
	int fd;       /* ours, close-on-exec, above 2. -1: closed */
	int relay[2]; /* NOWAIT_SPLICE: the private pipe, else -1 */
	enum nowait_way way;
	bool is_terminal;
	size_t chunk_bytes; /* NOWAIT_POLL: most bytes in one write */
};

#define NOWAIT_STREAM ((struct nowait_stream){.fd = -1, .relay = {-1, -1}})

/*
 * Makes a stream to the same place as `fd` (not a regular file), which stays the caller's. Returns 0, -EBADF if fd
 * is closed or not open for writing, or another negative errno.
 */
int nowait_stream_from_fd(int fd, struct nowait_stream *ret_stream);

/* Takes over a descriptor with a private description that has O_NONBLOCK. */
struct nowait_stream nowait_stream_adopt(int fd);

/*
 * Returns the bytes written (fewer than `length` if there was less room), -EAGAIN if there was no room, or another
 * negative errno. On a pipe, a record of at most PIPE_BUF bytes is written whole or not at all, except by
 * NOWAIT_POLL. The caller must hold back SIGPIPE.
 */
ssize_t nowait_stream_write(struct nowait_stream *stream, const void *bytes, size_t length);

void nowait_stream_close(struct nowait_stream *stream);
