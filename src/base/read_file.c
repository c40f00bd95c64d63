/* Reads a whole file. See read_file.h. */
#include "base/read_file.h"

#include "base/runs_once.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { READ_BYTES = 4096 };

SELDOM int read_whole_file(const char *path, struct buffer *text)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t length;

	if (fd < 0)
		return -errno;
	do {
		if (buffer_reserve(text, READ_BYTES) < 0)
			return -EFBIG;
		length = read(fd, text->data + text->length, READ_BYTES);
		if (length > 0)
			text->length += (size_t)length;
	} while (length > 0 || (length < 0 && errno == EINTR));
	return length < 0 ? -errno : 0;
}
