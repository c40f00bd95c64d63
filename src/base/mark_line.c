/* One line of a file of marks; see mark_line.h. */
#include "base/mark_line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"

/* Every byte of a name may become six. */
enum { LINE_BYTES = 16 * MARK_NAME_BYTES };

void mark_line(struct buffer *out, const struct mark *mark)
{
	buffer_add_text(out, "{\"timestamp_ns\":");
	buffer_add_i64(out, SYSTEM_CLOCKS.realtime_ns(SYSTEM_CLOCKS.context));
	buffer_add_text(out, ",\"monotonic_ns\":");
	buffer_add_i64(out, SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context));
	buffer_add_text(out,
			mark->start ? ",\"event\":\"start\",\"name\":" : ",\"event\":\"stop\",\"name\":");
	json_escape(out, mark->name, strlen(mark->name));
	buffer_add_text(out, ",\"id\":");
	if (mark->id)
		json_escape(out, mark->id, strlen(mark->id));
	else
		buffer_add_text(out, "null");
	buffer_add_text(out, ",\"pid\":");
	buffer_add_i64(out, mark->pid);
	buffer_add_text(out, ",\"host\":");
	json_escape(out, mark->host, strlen(mark->host));
	buffer_add_text(out, "}\n");
}

int mark_write(int fd, const struct mark *mark)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);
	ssize_t written;

	if (strlen(mark->name) > MARK_NAME_BYTES || (mark->id && strlen(mark->id) > MARK_NAME_BYTES))
		return -ENAMETOOLONG;
	if (buffer_reserve(&line, 512) < 0)
		return -ENOMEM;
	mark_line(&line, mark);
	if (buffer_error(&line))
		return buffer_error(&line);
	do {
		written = write(fd, line.data, line.length);
	} while (written < 0 && errno == EINTR);
	if (written < 0)
		return -errno;
	return (size_t)written == line.length ? 0 : -ENOSPC;
}

int mark_open(const char *path)
{
	struct stat status;
	int fd;

	if (!path || !*path)
		return -ENOENT;
	/* Never waits, whatever was put there. */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}
