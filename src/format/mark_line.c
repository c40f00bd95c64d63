/* Writes lines of a file of marks. See mark_line.h. */
#include "format/mark_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/trust.h"

/* Each byte of a name may become six. */
enum { LINE_BYTES = 16 * MARK_NAME_BYTES };

static const char *const EVENTS[] = {[MARK_START] = "start", [MARK_STOP] = "stop", [MARK_NEXT] = "next"};
static const char SUFFIX[] = ".marks";

void mark_line(struct buffer *out, const struct mark *mark)
{
	buffer_add_text(out, "{\"timestamp_ns\":");
	buffer_add_i64(out, SYSTEM_CLOCKS.realtime_ns(SYSTEM_CLOCKS.context));
	buffer_add_text(out, ",\"monotonic_ns\":");
	buffer_add_i64(out, SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context));
	buffer_printf(out, ",\"event\":\"%s\",\"name\":", EVENTS[mark->event]);
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

	if (!mark->name || !*mark->name)
		return -EINVAL;
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

/* ---- the file ----------------------------------------------------------------------------------------- */

struct marks_place {
	const char *path;
	uid_t folder_owner;
	bool shared;       /* other users may put files there */
	bool is_neighbour; /* beside a recording */
	struct stat recording;
};

static int find_mark_place(const char *path, struct marks_place *ret_place)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0, name_length = strlen(path),
	       suffix = strlen(SUFFIX);
	CLEANUP_FREE char *folder = length ? strndup(path, length) : strdup(slash ? "/" : ".");
	CLEANUP_FREE char *recording = NULL;
	struct marks_place place = {.path = path};
	struct stat status;

	if (!folder)
		return -ENOMEM;
	if (stat(folder, &status) < 0)
		return -errno;
	place.folder_owner = status.st_uid;
	place.shared = !is_under_our_control(folder, &status);
	if (name_length > suffix && strcmp(path + name_length - suffix, SUFFIX) == 0) {
		recording = strndup(path, name_length - suffix);
		place.is_neighbour = recording && lstat(recording, &place.recording) == 0 &&
				     S_ISREG(place.recording.st_mode);
	}
	*ret_place = place;
	return 0;
}

static int check_marks_file(const struct marks_place *place, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return -EINVAL;
	if (!place->shared)
		return 0;
	if (status->st_uid != geteuid() && status->st_uid != place->folder_owner &&
	    !(place->is_neighbour && status->st_uid == place->recording.st_uid))
		return -EACCES;
	return status->st_nlink > 1 ? -EACCES : 0;
}

static int create_marks_file(const struct marks_place *place, int flags)
{
	int fd = open(place->path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);

	if (fd < 0)
		return -errno;
	/* Only root can give a file to another user. */
	if (place->is_neighbour && place->recording.st_uid != geteuid())
		(void)!fchown(fd, place->recording.st_uid, place->recording.st_gid);
	return fd;
}

int mark_open(const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, fd, result;
	struct stat status;
	struct marks_place place;

	if (!path || !*path)
		return -ENOENT;
	result = find_mark_place(path, &place);
	if (result < 0)
		return result;
	fd = create_marks_file(&place, flags);
	if (fd != -EEXIST)
		return fd;
	/* A link of our own may lead to a file that does not exist yet. */
	fd = place.shared ? open(path, flags | O_NOFOLLOW) : open(path, flags | O_CREAT, 0666);
	if (fd < 0)
		return -errno;
	result = fstat(fd, &status) < 0 ? -errno : check_marks_file(&place, &status);
	if (result == 0)
		return fd;
	close(fd);
	return result;
}

bool marks_can_be_read(const char *path)
{
	struct stat status;
	struct marks_place place;

	return find_mark_place(path, &place) == 0 &&
	       (place.shared ? lstat(path, &status) : stat(path, &status)) == 0 &&
	       check_marks_file(&place, &status) == 0;
}
