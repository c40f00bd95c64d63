/*
 * Writing to a pipe, a terminal or a socket without ever waiting for whoever reads it.
 *
 * Standard error and standard output are shared with the job: O_NONBLOCK belongs to the open file
 * description, so setting it there would change the job's stream as well. In order of preference:
 *
 *  - a description of our own, from opening /proc/self/fd/N again with O_NONBLOCK (pipes, terminals,
 * devices);
 *  - send(MSG_DONTWAIT) (sockets, which cannot be opened again);
 *  - splice(SPLICE_F_NONBLOCK) out of a pipe of our own, for a pipe that may not be opened again because
 *    another user made it (su, containers) or because there is no /proc; it asks and moves under one lock,
 *    so nothing the job writes meanwhile can make it wait;
 *  - poll, then less than poll says there is room for: what is left for such a terminal. Should the job fill
 * it between the two calls, the write waits until the terminal takes a few more bytes.
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
	int fd;       /* ours, close-on-exec, above 2; -1 when closed */
	int relay[2]; /* NOWAIT_SPLICE: the private pipe, else -1 */
	enum nowait_way way;
	bool is_terminal;
	size_t chunk_bytes; /* NOWAIT_POLL: what one write may hold */
};

#define NOWAIT_STREAM ((struct nowait_stream){.fd = -1, .relay = {-1, -1}})

/*
 * A stream to the same place as `fd` (no regular file), which stays the caller's.
 * Returns 0, -EBADF when fd is closed or not open for writing, or another negative errno.
 */
int nowait_stream_from_fd(int fd, struct nowait_stream *ret_stream);

/* Takes over a descriptor whose description is nobody else's and has O_NONBLOCK. */
struct nowait_stream nowait_stream_adopt(int fd);

/*
 * Returns the bytes written (fewer than `length` when there was no room for all of them), or -EAGAIN when
 * there was room for none, or another negative errno. On a pipe, records of at most PIPE_BUF bytes go as a
 * whole or not at all, except by NOWAIT_POLL. SIGPIPE is the caller's to hold back.
 */
ssize_t nowait_stream_write(struct nowait_stream *stream, const void *bytes, size_t length);

void nowait_stream_close(struct nowait_stream *stream);
