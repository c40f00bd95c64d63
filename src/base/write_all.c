/* Writes all bytes. See write_all.h. */
#include "base/write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t length)
{
	const char *next = bytes;

	while (length) {
		ssize_t written = write(fd, next, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		next += written;
		length -= (size_t)written;
	}
	return 0;
}
