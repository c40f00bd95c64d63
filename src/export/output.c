/* Writes the output of an export; see output.h. */
#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_lock.h"
#include "base/file_place.h"
#include "base/scan.h"
#include "base/write_all.h"
#include "format/gzip.h"
#include "format/is_recording.h"
#include "resource_tracker_internal.h"

enum {
	PENDING_BYTES = 256 << 10,
	PENDING_MOST = 1 << 30,
	MOST_LINKS = 16,
	MOST_TRIES = 100,
	ABOVE_STDIO = 3
};

struct output_gzip {
	struct gzip writer;
	struct buffer packed; /* what the writer has made and the file has not got yet */
};

static char *take_output_text(char **text)
{
	char *taken = *text;

	*text = NULL;
	return taken;
}

/* ---- following names ------------------------------------------------------------------------------- */

struct folder {
	bool shared; /* sticky and world-writable */
	uid_t owner;
};

static struct folder folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	CLEANUP_FREE char *name = length ? strndup(path, length) : strdup(slash ? "/" : ".");
	struct stat status;

	if (!name || stat(name, &status) < 0)
		return (struct folder){0};
	return (struct folder){(status.st_mode & S_ISVTX) && (status.st_mode & S_IWOTH), status.st_uid};
}

/* In a shared folder any user can create links, files and FIFOs under the names that we write to. */
static bool is_planted(const char *path, const struct stat *found)
{
	struct folder folder = folder_of(path);

	return folder.shared && found->st_uid != geteuid() && found->st_uid != folder.owner;
}

/* Returns the link's target as a path from here; malloc'd, or NULL with errno. */
static char *link_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	const char *slash = strrchr(path, '/');
	char *name = NULL;

	if (length < 0)
		return NULL;
	target[length] = '\0';
	if (*target == '/' || !slash)
		return strdup(target);
	return asprintf(&name, "%.*s%s", (int)(slash - path + 1), path, target) < 0 ? NULL : name;
}

/*
 * Follows links, but none that another user may have planted. Returns 0 and a malloc'd name, or a negative
 * errno.
 */
static int follow_links(const char *path, char **ret_name)
{
	CLEANUP_FREE char *name = strdup(path);
	struct stat status;

	for (int hops = 0; name && hops < MOST_LINKS; hops++) {
		char *next;

		/* Links in /proc lead to open files, not to names. */
		if (strncmp(name, "/proc/", strlen("/proc/")) == 0 || lstat(name, &status) < 0 ||
		    !S_ISLNK(status.st_mode)) {
			*ret_name = take_output_text(&name);
			return 0;
		}
		if (is_planted(name, &status))
			return -EPERM;
		next = link_target(name);
		free(name);
		name = next;
	}
	return name ? -ELOOP : -errno;
}

/* Returns the descriptor behind a name such as /dev/stdout or /dev/fd/N, or -1 for the name of a file. */
static int named_descriptor(const char *path)
{
	struct scan text = scan_bytes(path, strlen(path));
	uint64_t fd;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if ((scan_literal(&text, "/dev/fd/") || scan_literal(&text, "/proc/self/fd/")) &&
	    scan_u64(&text, &fd) && !scan_left(&text) && fd <= INT_MAX)
		return (int)fd;
	return -1;
}

/* ---- permission to write --------------------------------------------------------------------------- */

static int refuse_output(struct rt_problem *problem, int error, const char *path, const char *reason)
{
	return problem_set(problem, error, "cannot write to %s: %s", *path ? path : "''", reason);
}

/* Only a file that does not exist, or is a regular one, is written under another name first. */
static int check_place(const char *name, struct rt_problem *problem)
{
	int result = check_file_place(name);

	return result < 0 ? refuse_output(problem, result, name, file_place_fault(result)) : 0;
}

static int refuse_link(struct rt_problem *problem, int error, const char *path)
{
	return refuse_output(problem, error, path,
			     error == -EPERM
				     ? "another user's symbolic link in a folder that everyone may write to"
				     : strerror(-error));
}

/* Refuses a file that a recorder holds: it keeps a lock on its output. */
static int check_regular_file(const char *path, const char *name, bool replace, struct rt_problem *problem)
{
	CLEANUP_CLOSE int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);

	if (fd < 0)
		return 0;
	if (is_locked_by_writer(fd, LOCK_SH))
		return refuse_output(problem, -EBUSY, path, "a recorder is writing to it");
	if (!replace && is_recording(fd))
		return refuse_output(problem, -EEXIST, path, "it is a recording; --force replaces it");
	if (!replace && holds_run_lines(fd))
		return refuse_output(problem, -EEXIST, path, "it has lines of runs; --force replaces it");
	return 0;
}

static bool is_same_file(const char *name, const struct stat *status)
{
	struct stat other;

	return stat(name, &other) == 0 && other.st_dev == status->st_dev && other.st_ino == status->st_ino;
}

/* Returns the malloc'd name of the marks beside a recording, or NULL. */
static char *name_of_marks(const char *path)
{
	char *marks;

	return asprintf(&marks, "%s.marks", path) < 0 ? NULL : marks;
}

/* Tells whether the output is the input itself, or the input's marks. */
static bool is_input(const char *input, const struct stat *status)
{
	CLEANUP_FREE char *marks = name_of_marks(input);

	return is_same_file(input, status) || (marks && is_same_file(marks, status));
}

int output_check_inputs(const char *path, const char *const *inputs, size_t count, struct rt_problem *problem)
{
	CLEANUP_FREE char *marks = path ? name_of_marks(path) : NULL;
	struct stat status, marks_status;
	bool has_marks;

	if (!path || named_descriptor(path) >= 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	has_marks = marks && stat(marks, &marks_status) == 0;
	for (size_t i = 0; i < count; i++) {
		if (inputs[i] && is_input(inputs[i], &status))
			return refuse_output(problem, -EINVAL, path,
					     "it is what is read; name another output");
		if (inputs[i] && has_marks && is_same_file(inputs[i], &marks_status))
			return refuse_output(problem, -EINVAL, path,
					     "the marks beside it are read; name another output");
	}
	return 0;
}

int rt_output_check(const char *path, const char *const *inputs, size_t input_count, bool replace,
		    struct rt_problem *ret_problem)
{
	CLEANUP_FREE char *name = NULL;
	struct stat status;
	int result;

	if (named_descriptor(path) >= 0)
		return 0;
	if (!*path)
		return refuse_output(ret_problem, -ENOENT, path, "it names no file");
	result = output_check_inputs(path, inputs, input_count, ret_problem);
	if (result < 0)
		return result;
	result = follow_links(path, &name);
	if (result < 0)
		return refuse_link(ret_problem, result, path);
	if (lstat(name, &status) < 0 || S_ISDIR(status.st_mode))
		return check_place(name, ret_problem);
	if (S_ISREG(status.st_mode)) {
		result = check_regular_file(path, name, replace, ret_problem);
		return result < 0 ? result : check_place(name, ret_problem);
	}
	if (is_planted(name, &status))
		return refuse_output(ret_problem, -EPERM, path,
				     "it belongs to another user, in a folder that everyone may write to");
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------------- */

/*
 * Creates a file under an unpredictable name. Returns a descriptor and the malloc'd name, or a negative
 * errno.
 */
static int create_temporary(const char *path, char **ret_name)
{
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		CLEANUP_FREE char *name = NULL;
		unsigned number = 0;
		int fd;

		/*
		 * Without getrandom(2), pid and counter make the name unique, but other users can predict it.
		 */
		if (syscall(SYS_getrandom, &number, sizeof(number), 0) < 0)
			number = (unsigned)tries;
		if (asprintf(&name, "%s.%ld-%08x.partial", path, (long)getpid(), number) < 0) {
			name = NULL;
			return -ENOMEM;
		}
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		*ret_name = take_output_text(&name);
		return fd;
	}
	return -EEXIST;
}

/* Returns a descriptor, or a negative errno. `output->path` becomes the name at the end of the links. */
static int open_target(struct output *output, const char *path)
{
	int fd = named_descriptor(path);
	struct stat status;

	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STDIO);
		return fd < 0 ? -errno : fd;
	}
	free(output->path);
	output->path = NULL;
	fd = follow_links(path, &output->path);
	if (fd < 0)
		return fd;
	if (lstat(output->path, &status) == 0 && !S_ISREG(status.st_mode)) {
		fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
		return fd < 0 ? -errno : fd;
	}
	return create_temporary(output->path, &output->temporary);
}

int output_name_whole_file(const char *path, char **ret_name, char **ret_temporary,
			   struct rt_problem *problem)
{
	struct output output = {.fd = -1};
	int result = output_open(&output, path, false, problem);

	if (result == 0 && !output.temporary)
		result = problem_set(problem, -EINVAL,
				     "%s: SQLite is written to files only, not to standard output or a pipe",
				     path);
	if (result == 0) {
		*ret_name = take_output_text(&output.path);
		*ret_temporary = take_output_text(&output.temporary);
	}
	output_close(&output);
	return result;
}

static int begin_gzip(struct output *output)
{
	struct output_gzip *gzip = calloc(1, sizeof(*gzip));
	int error;

	if (!gzip)
		return -ENOMEM;
	gzip->packed = BUFFER(PENDING_MOST);
	error = gzip_open(&gzip->writer, &gzip->packed);
	if (error < 0) {
		free(gzip);
		return error;
	}
	output->gzip = gzip;
	return 0;
}

int output_open(struct output *ret_output, const char *path, bool gzip, struct rt_problem *problem)
{
	struct output output = {.fd = -1, .pending = BUFFER(PENDING_MOST)};
	int result;

	if (!path) {
		*ret_output = output;
		return 0;
	}
	result = rt_output_check(path, NULL, 0, true, problem);
	if (result < 0)
		return result;
	output.path = strdup(path);
	output.fd = output.path ? open_target(&output, path) : -ENOMEM;
	result = output.fd < 0 ? output.fd : 0;
	if (result == 0 && gzip)
		result = begin_gzip(&output);
	if (result < 0) {
		output.fd = output.fd < 0 ? -1 : output.fd;
		output_close(&output);
		return refuse_output(problem, result, path, strerror(-result));
	}
	*ret_output = output;
	return 0;
}

static int write_compressed(struct output *output)
{
	struct output_gzip *gzip = output->gzip;
	int result = gzip_add(&gzip->writer, output->pending.data, output->pending.length);

	if (result == 0)
		result = write_all(output->fd, gzip->packed.data, gzip->packed.length);
	buffer_clear(&gzip->packed);
	return result;
}

/* Ends the member, frees the writer, and writes the last bytes unless there was an error before. */
static int end_gzip(struct output *output, int error)
{
	struct output_gzip *gzip = output->gzip;
	int result;

	if (!gzip)
		return error;
	output->gzip = NULL;
	result = gzip_close(&gzip->writer);
	if (error == 0)
		error = result;
	if (error == 0)
		error = write_all(output->fd, gzip->packed.data, gzip->packed.length);
	buffer_done(&gzip->packed);
	free(gzip);
	return error;
}

static void write_pending(struct output *output)
{
	if (!output->error && buffer_error(&output->pending))
		output->error = buffer_error(&output->pending);
	if (!output->error)
		output->error = output->gzip
					? write_compressed(output)
					: write_all(output->fd, output->pending.data, output->pending.length);
	buffer_clear(&output->pending);
}

void output_write(struct output *output, struct buffer *bytes)
{
	if (!output->error && buffer_error(bytes))
		output->error = buffer_error(bytes);
	buffer_add(&output->pending, bytes->data, bytes->length);
	buffer_clear(bytes);
	if (output->path && output->pending.length >= PENDING_BYTES)
		write_pending(output);
}

static bool holds_recording(const char *path)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);

	return fd >= 0 && is_recording(fd);
}

int output_rename(const char *temporary, const char *path)
{
	CLEANUP_FREE char *marks = holds_recording(path) ? name_of_marks(path) : NULL;

	if (rename(temporary, path) < 0)
		return -errno;
	if (marks)
		(void)unlink(marks);
	return 0;
}

int output_finish(struct output *output, struct rt_problem *problem)
{
	int fd;

	if (!output->path)
		return output->error ? output->error : buffer_error(&output->pending);
	write_pending(output);
	output->error = end_gzip(output, output->error);
	fd = take_fd(&output->fd);
	if (close(fd) < 0 && !output->error)
		output->error = -errno;
	if (!output->error && output->temporary)
		output->error = output_rename(output->temporary, output->path);
	if (output->error)
		return problem_set(problem, output->error, "%s: %s", output->path, strerror(-output->error));
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void output_close(struct output *output)
{
	if (output->temporary)
		unlink(output->temporary);
	(void)end_gzip(output, -ECANCELED);
	if (output->fd >= 0)
		close(output->fd);
	buffer_done(&output->pending);
	free(output->temporary);
	free(output->path);
	*output = (struct output){.fd = -1};
}

int rt_output_write(const char *path, const void *bytes, size_t length, struct rt_problem *ret_problem)
{
	struct output output = {.fd = -1};
	int result = output_open(&output, path ? path : "-", false, ret_problem);

	if (result == 0) {
		buffer_add(&output.pending, bytes, length);
		result = output_finish(&output, ret_problem);
	}
	output_close(&output);
	return result;
}
