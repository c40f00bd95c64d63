/* The end of a run on a full disk; see last_record.h. */
#include "sink/last_record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TAIL_BYTES = 256 << 10 };

/* Returns where in the tail the lines begin that a record of that length replaces, or -1. */
static ssize_t find_replaced_lines(const char *tail, size_t length, size_t torn, size_t record_length)
{
	size_t at = length - torn;

	if (!at || tail[at - 1] != '\n')
		return -1;
	while (length - at < record_length) {
		if (!at)
			return -1;
		for (at--; at && tail[at - 1] != '\n';)
			at--;
	}
	return (ssize_t)at;
}

/* With O_APPEND, pwrite(2) ignores the place. */
static bool write_at(int fd, int64_t place, const char *record, size_t length)
{
	int flags = fcntl(fd, F_GETFL);
	ssize_t written;

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0)
		return false;
	written = pwrite(fd, record, length, place);
	(void)fcntl(fd, F_SETFL, flags);
	if (written <= 0)
		return false;
	/* A file system that copies on writing may have had room for a part. */
	return ftruncate(fd, written == (ssize_t)length ? place + written : place) == 0 &&
	       written == (ssize_t)length;
}

bool write_last_record(int fd, int64_t floor, size_t torn, const char *record, size_t length)
{
	CLEANUP_FREE char *tail = malloc(TAIL_BYTES);
	struct stat status;
	off_t begin;
	ssize_t size, at;

	if (!tail || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	begin = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
	size = pread(fd, tail, TAIL_BYTES, begin);
	if (size <= 0 || begin + size != status.st_size || (size_t)size < torn)
		return false;
	at = find_replaced_lines(tail, (size_t)size, torn, length);
	/* The first line of a part of the file may be torn. */
	return at > 0 && begin + at >= floor && write_at(fd, begin + at, record, length);
}
