/* Writes with a deadline. See write_in_time.h. */
#include "base/write_in_time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"

/* A terminal that polls as writable has room for a buffer of 256 bytes, and every newline may become two. */
enum { CHUNK_BYTES = 128 };

/*
 * Opens the same pipe or terminal again, because other processes share the file description and it must not
 * become non-blocking. Returns -1 if that is impossible (a socket, a terminal of another user).
 */
static int open_without_waiting(int fd, const struct stat *status)
{
	CLEANUP_CLOSE int again = -1;
	struct stat found;
	char path[DESCRIPTOR_PATH_BYTES];

	if (!S_ISFIFO(status->st_mode) && !isatty(fd))
		return -1;
	again = open(descriptor_path(fd, path), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again < 0 || fstat(again, &found) < 0 || found.st_dev != status->st_dev ||
	    found.st_ino != status->st_ino)
		return -1;
	return take_fd(&again);
}

static bool wait_for_room(int fd, int64_t until_ns)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	int64_t left_ns = until_ns - SYSTEM_CLOCKS.monotonic_ns(NULL);

	return poll(&room, 1, left_ns > 0 ? (int)(left_ns / NSEC_PER_MSEC) : 0) > 0;
}

int write_in_time(int fd, const void *bytes, size_t length, int timeout_ms)
{
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + timeout_ms * NSEC_PER_MSEC;
	struct stat status = {0};
	CLEANUP_CLOSE int own_fd = fstat(fd, &status) == 0 ? open_without_waiting(fd, &status) : -1;
	const char *next = bytes;

	while (length) {
		/* A pipe with room takes this much at once. A terminal is polled again after each chunk. */
		size_t most = own_fd >= 0 || S_ISFIFO(status.st_mode) || length < CHUNK_BYTES ? length
											      : CHUNK_BYTES;
		ssize_t written;

		if (!wait_for_room(fd, until_ns))
			return -ETIMEDOUT;
		written = write(own_fd >= 0 ? own_fd : fd, next, most);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		next += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}
