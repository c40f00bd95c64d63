/* Writes without waiting. See nowait_stream.h. */
#include "sink/nowait_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A terminal that polls as writable has room for 256 bytes, and every newline may become two. */
enum { TERMINAL_CHUNK_BYTES = 128, ABOVE_STDIO = 3 };

/* Opening such a device again makes a new one instead of finding the same: /dev/ptmx. */
static bool is_cloning_device(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && status->st_rdev == makedev(5, 2);
}

static int open_again(int fd, const struct stat *status)
{
	CLEANUP_CLOSE int again_fd = -1;
	struct stat found;
	char path[32];

	if ((!S_ISFIFO(status->st_mode) && !S_ISCHR(status->st_mode)) || is_cloning_device(status))
		return -ENOTSUP;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	again_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again_fd < 0)
		return -errno;
	if (fstat(again_fd, &found) < 0 || found.st_dev != status->st_dev || found.st_ino != status->st_ino)
		return -ESTALE;
	if (again_fd < ABOVE_STDIO) {
		int above_fd = fcntl(again_fd, F_DUPFD_CLOEXEC, ABOVE_STDIO);

		return above_fd < 0 ? -errno : above_fd;
	}
	return take_fd(&again_fd);
}

static enum nowait_way way_without_reopening(struct nowait_stream *stream, const struct stat *status)
{
	if (S_ISSOCK(status->st_mode))
		return NOWAIT_SOCKET;
	if (S_ISFIFO(status->st_mode) && pipe2(stream->relay, O_CLOEXEC | O_NONBLOCK) == 0)
		return NOWAIT_SPLICE;
	return NOWAIT_POLL;
}

int nowait_stream_from_fd(int fd, struct nowait_stream *ret_stream)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	struct stat status;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &status) < 0)
		return -errno;
	/* Opening a read end again for writing would succeed: refuse it. */
	if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return -EBADF;
	stream.is_terminal = isatty(fd);
	stream.chunk_bytes = S_ISFIFO(status.st_mode) ? PIPE_BUF : TERMINAL_CHUNK_BYTES;
	stream.fd = open_again(fd, &status);
	if (stream.fd >= 0) {
		stream.way = NOWAIT_OWN_DESCRIPTION;
	} else {
		stream.fd = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STDIO);
		if (stream.fd < 0)
			return -errno;
		stream.way = way_without_reopening(&stream, &status);
	}
	*ret_stream = stream;
	return 0;
}

struct nowait_stream nowait_stream_adopt(int fd)
{
	struct nowait_stream stream = NOWAIT_STREAM;

	stream.fd = fd;
	stream.way = NOWAIT_OWN_DESCRIPTION;
	stream.is_terminal = isatty(fd);
	return stream;
}

static ssize_t plain_write(int fd, const char *bytes, size_t length)
{
	ssize_t n;

	do
		n = write(fd, bytes, length);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t send_now(int fd, const char *bytes, size_t length)
{
	ssize_t n;

	do
		n = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t poll_and_write(struct nowait_stream *stream, const char *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		size_t chunk = length - done < stream->chunk_bytes ? length - done : stream->chunk_bytes;
		struct pollfd room = {stream->fd, POLLOUT, 0};
		ssize_t n = poll(&room, 1, 0) > 0 ? plain_write(stream->fd, bytes + done, chunk) : -EAGAIN;

		if (n < 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static void empty_relay(int fd)
{
	char scrap[PIPE_BUF];

	while (read(fd, scrap, sizeof scrap) > 0)
		;
}

static ssize_t splice_now(struct nowait_stream *stream, const char *bytes, size_t length)
{
	ssize_t filled = plain_write(stream->relay[1], bytes, length), moved;

	if (filled < 0)
		return filled;
	do
		moved = splice(stream->relay[0], NULL, stream->fd, NULL, (size_t)filled, SPLICE_F_NONBLOCK);
	while (moved < 0 && errno == EINTR);
	if (moved < 0)
		moved = -errno;
	if (moved < filled)
		empty_relay(stream->relay[0]);
	/* A system call filter forbids splice(). */
	if (moved == -EINVAL || moved == -ENOSYS || moved == -EPERM) {
		stream->way = NOWAIT_POLL;
		return poll_and_write(stream, bytes, length);
	}
	return moved ? moved : -EAGAIN;
}

ssize_t nowait_stream_write(struct nowait_stream *stream, const void *bytes, size_t length)
{
	switch (stream->way) {
	case NOWAIT_SOCKET:
		return send_now(stream->fd, bytes, length);
	case NOWAIT_SPLICE:
		return splice_now(stream, bytes, length);
	case NOWAIT_POLL:
		return poll_and_write(stream, bytes, length);
	case NOWAIT_OWN_DESCRIPTION:
		break;
	}
	return plain_write(stream->fd, bytes, length);
}

void nowait_stream_close(struct nowait_stream *stream)
{
	cleanup_close(&stream->fd);
	cleanup_close(&stream->relay[0]);
	cleanup_close(&stream->relay[1]);
	*stream = NOWAIT_STREAM;
}
