/* Appends to a file of runs. See runs_file.h. */
#include "history/runs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "format/gzip.h"
#include "format/is_recording.h"
#include "table/table.h"

enum { LOCK_TRIES = 500, LINE_BYTES = 2 << 20 };

/*
 * In a folder that everyone may write to, another user can place a link or a file for us to write to. Elsewhere a file of
 * another user is usual: the fleet's owner has made it.
 */
static const char *why_planted(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *folder_path = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct stat folder, found;

	if (!folder_path || stat(folder_path, &folder) < 0 || !(folder.st_mode & S_IWOTH) ||
	    lstat(path, &found) < 0)
		return NULL;
	if (found.st_uid != geteuid() && found.st_uid != folder.st_uid)
		return "it belongs to another user, in a folder that everyone may write to";
	if (S_ISREG(found.st_mode) && found.st_nlink > 1)
		return "it has a second name, in a folder that everyone may write to";
	return NULL;
}

/* Readable as well, if this user may read it: a torn line can only be seen by a reader. */
static int open_runs_file(const char *path)
{
	const int flags = O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_RDWR, 0666);

	if (fd < 0 && errno == EACCES)
		fd = open(path, flags | O_WRONLY, 0666);
	return fd < 0 ? -errno : fd;
}

static const char *why_no_runs_file(int fd)
{
	char start[2];
	struct stat status;
	ssize_t length;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return "it is not a regular file";
	length = pread(fd, start, sizeof(start), 0);
	if (length == sizeof(start) && begins_gzip(start, sizeof(start)))
		return "it is compressed; append to a new file, and name both to resource-tracker history";
	if (is_recording(fd))
		return "it is a recording, not a file of runs";
	/* This user may append to some files that it cannot read. */
	if (length > 0 && !holds_run_lines(fd))
		return "it has content other than lines of runs; choose another file";
	return NULL;
}

static bool lock_runs_file(int fd)
{
	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = NSEC_PER_MSEC}, NULL);
	}
	return false;
}

static bool ends_in_torn_line(int fd, off_t size)
{
	char last = '\n';

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

char *runs_file_name(const char *template)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(PATH_MAX);
	char host[HOST_NAME_MAX + 1] = "", *text = NULL;

	(void)gethostname(host, sizeof(host) - 1);
	for (char *slash = host; (slash = strchr(slash, '/'));)
		*slash = '_';
	buffer_add_text(&name, "");
	for (const char *at = template; *at; at++) {
		bool is_host = at[0] == '%' && at[1] == 'h';

		if (is_host)
			buffer_add_text(&name, host);
		else
			buffer_add_char(&name, *at);
		at += is_host || (at[0] == '%' && at[1] == '%');
	}
	return buffer_take_text(&name, &text) == 0 ? text : NULL;
}

int runs_file_append(const char *template, const struct buffer *line, struct rt_problem *ret_problem)
{
	CLEANUP_FREE char *name = runs_file_name(template);
	const char *path = name ? name : template;
	const char *reason = why_planted(path);
	CLEANUP_CLOSE int fd = reason ? -EPERM : open_runs_file(path);
	CLEANUP_BUFFER struct buffer text = BUFFER(LINE_BYTES);
	struct stat status = {0};
	bool is_locked;
	ssize_t written;

	if (fd < 0 && !reason)
		return problem_set(ret_problem, fd, "%s: no line is appended: %s", path,
				   fd == -EACCES ? strerror(EACCES) : file_place_fault(fd));
	reason = reason ? reason : why_no_runs_file(fd);
	if (reason)
		return problem_set(ret_problem, -EINVAL, "%s: no line is appended: %s", path, reason);
	is_locked = lock_runs_file(fd);
	(void)fstat(fd, &status);
	/* Without the lock, the end may be the half of a line that another writer has just begun. */
	if (is_locked && ends_in_torn_line(fd, status.st_size))
		buffer_add_char(&text, '\n');
	buffer_add(&text, line->data, line->length);
	if (buffer_error(line) || buffer_error(&text))
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	written = write(fd, text.data, text.length);
	if (written == (ssize_t)text.length)
		return 0;
	/* A full disk took a part. Without the lock, others may have appended behind it. */
	if (written > 0 && is_locked)
		(void)!ftruncate(fd, status.st_size);
	written = written < 0 ? -errno : -ENOSPC;
	return problem_set(ret_problem, (int)written, "%s: no line is appended: %s", path,
			   strerror((int)-written));
}
