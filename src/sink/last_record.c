/* The end of a run on a full disk; see last_record.h. */
#include "sink/last_record.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TAIL_BYTES = 256 << 10 };

/* Returns the text from "tracked_pid": to the comma behind a number, or NULL. */
static const char *find_process(const char *line, size_t length, size_t *ret_length)
{
	static const char KEY[] = "\"tracked_pid\":";
	const char *at = memmem(line, length, KEY, strlen(KEY));
	const char *digits = at ? at + strlen(KEY) : NULL, *end = digits;

	while (end && end < line + length && *end >= '0' && *end <= '9')
		end++;
	if (!end || end == digits || end == line + length)
		return NULL;
	*ret_length = (size_t)(end + 1 - at);
	return at;
}

/* The first sample of a run has its beginning, which stays. */
static bool may_be_replaced(const char *line, size_t length, const char *process, size_t process_length)
{
	static const char BEGINNING[] = "\"run_start\":{";
	size_t own_length;
	const char *own = find_process(line, length, &own_length);

	return own && !memmem(line, length, BEGINNING, strlen(BEGINNING)) && own_length == process_length &&
	       memcmp(own, process, own_length) == 0;
}

/* Returns where in the tail the lines begin that the record replaces, or -1. */
static ssize_t find_room(const char *tail, size_t length, size_t torn, const char *record,
			 size_t record_length)
{
	size_t process_length, at = length - torn;
	const char *process = find_process(record, record_length, &process_length);

	if (!process || !at || tail[at - 1] != '\n')
		return -1;
	while (length - at < record_length) {
		size_t end = at;

		if (!at)
			return -1;
		for (at--; at && tail[at - 1] != '\n';)
			at--;
		if (!may_be_replaced(tail + at, end - at, process, process_length))
			return -1;
	}
	return (ssize_t)at;
}

/* With O_APPEND, pwrite(2) ignores the place. */
static bool write_at(int fd, off_t place, const char *record, size_t length)
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

bool write_last_record(int fd, size_t torn, const char *record, size_t length)
{
	CLEANUP_FREE char *tail = malloc(TAIL_BYTES);
	struct stat status;
	off_t begin;
	ssize_t size, room;

	if (!tail || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	begin = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
	size = pread(fd, tail, TAIL_BYTES, begin);
	if (size <= 0 || begin + size != status.st_size || (size_t)size < torn)
		return false;
	/* The first line of a part of the file may be torn. */
	room = find_room(tail, (size_t)size, torn, record, length);
	return room > 0 && write_at(fd, begin + room, record, length);
}
