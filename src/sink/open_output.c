/* Opens an output by name. See open_output.h. */
#include "sink/open_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/file_lock.h"
#include "base/file_place.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "format/gzip_member.h"
#include "format/is_recording.h"
#include "sink/rename_aside.h"

enum {
	ABOVE_STDIO = 3,
	RACES_LOST_AT_MOST = 16,
	LONGEST_SHOWN_PATH = 200,
	MOST_HEAD_BYTES = 4096,
	TIME_DIGITS = 10
};

struct output_place {
	const char *path; /* as the user wrote it, for messages */
	const char *name; /* its last part */
	int dir_fd;
	uid_t dir_owner;
	bool shared; /* the folder is sticky and all users may write to it */
	bool link;   /* the name is a symbolic link; the other fields describe its target */
	const struct output_options *options;
	char *message;
	size_t message_size;
};

void output_message(char *ret_message, size_t message_size, const char *format, ...)
{
	va_list arguments;

	if (!message_size)
		return;
	va_start(arguments, format);
	vsnprintf(ret_message, message_size, format, arguments);
	va_end(arguments);
	for (char *at = ret_message; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = '?';
	make_printable(ret_message, strlen(ret_message));
}

const char *output_shown_path(const char *path)
{
	size_t length = strlen(path);

	return length > LONGEST_SHOWN_PATH ? path + length - LONGEST_SHOWN_PATH : path;
}

static int refuse_opened_output(const struct output_place *place, int error, const char *reason)
{
	output_message(place->message, place->message_size, "cannot write to '%s': %s",
		       output_shown_path(place->path), reason);
	return error;
}

static int refuse_errno(const struct output_place *place, int error)
{
	return refuse_opened_output(place, error, strerror(-error));
}

/* If standard input, output or error is closed, the file must not get that number: the job would write to it. */
static int move_above_stdio(int fd)
{
	int above_fd;

	if (fd < 0 || fd >= ABOVE_STDIO)
		return fd < 0 ? -errno : fd;
	above_fd = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STDIO);
	if (above_fd < 0)
		above_fd = -errno;
	close(fd);
	return above_fd;
}

static int open_in_place(const struct output_place *place, int flags)
{
	if (!place->link)
		flags |= O_NOFOLLOW;
	return move_above_stdio(
		openat(place->dir_fd, place->name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
}

/* Held while recording. Close-on-exec, because a descriptor in the job would keep the lock. */
static int lock_output(const struct output_place *place, int fd)
{
	/*
	 * If a tracker was killed while it started its job, the child still holds the lock for a moment: try
	 * again. A job below another recorder waits as long before it starts.
	 */
	for (int patience = 25; patience > 0; patience--) {
		/* Without the lock as well: where the file system has none, or a user holds it who cannot record here. */
		if (!is_locked_by_writer(fd, LOCK_EX))
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = 10 * NSEC_PER_MSEC}, NULL);
	}
	return refuse_opened_output(place, -EBUSY,
				    "another recording is being written to it; choose another output");
}

static bool output_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns -EAGAIN if the name leads to another file by now. */
static int check_still_there(const struct output_place *place, int fd)
{
	struct stat opened, named;

	if (fstat(fd, &opened) < 0)
		return refuse_errno(place, -errno);
	if (fstatat(place->dir_fd, place->name, &named, place->link ? 0 : AT_SYMLINK_NOFOLLOW) < 0 ||
	    !output_is_same_file(&opened, &named))
		return -EAGAIN;
	return 0;
}

static int create_output(const struct output_place *place, struct opened_output *output)
{
	/* O_EXCL would refuse a dangling link, which is allowed here. */
	int flags = O_RDWR | O_APPEND | O_CREAT | (place->link ? 0 : O_EXCL);
	CLEANUP_CLOSE int fd = open_in_place(place, flags);
	int r;

	if (fd == -EEXIST)
		return -EAGAIN;
	if (fd == -ENOENT && place->link)
		return refuse_opened_output(
			place, fd,
			"it is a symbolic link into a folder that does not exist; create it first");
	/* Some file systems, such as /proc, answer ENOENT although the folder is there. */
	if (fd < 0)
		return fd == -ENOENT ? refuse_errno(place, fd)
				     : refuse_opened_output(place, fd, file_place_fault(fd));
	r = lock_output(place, fd);
	if (r < 0)
		return r;
	output->regular = true;
	output->is_new = !place->link;
	output->fd = take_fd(&fd);
	return 0;
}

static size_t count_fields(struct scan line)
{
	size_t count = 1;

	for (; line.at < line.end; line.at++)
		count += *line.at == ',';
	return count;
}

/*
 * Whether our rows fit below a first line. A CSV header must be ours. Rows without a header must have as many
 * cells as ours.
 */
static bool fits_layout(const char *csv_head, struct scan line)
{
	struct scan head = scan_trim(scan_bytes(csv_head, strlen(csv_head)));
	struct scan first = line;
	bool row;

	scan_literal(&first, "\"");
	row = scan_left(&first) && *first.at >= '0' && *first.at <= '9';
	line = scan_trim(line);
	if (row)
		return count_fields(line) == count_fields(head);
	return scan_left(&line) == scan_left(&head) && memcmp(line.at, head.at, scan_left(&line)) == 0;
}

static bool is_compressed(const struct output_place *place)
{
	return place->options->text == MEMBERS_JSON || place->options->text == MEMBERS_CSV;
}

/* Whether the file begins with a member of ours. */
static bool holds_members(int fd, bool *ret_csv)
{
	char head[MEMBER_HEAD_BYTES];
	int64_t length;

	return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
	       gzip_member_begins(head, ret_csv, &length);
}

/* Nothing can be appended to half a file of gzip. The file of another program may hold anything. */
static int check_compressed(const struct output_place *place, int fd)
{
	char begins[2];
	ssize_t length = pread(fd, begins, sizeof begins, 0);
	bool is_gzip = length == 2 && memcmp(begins, "\x1f\x8b", 2) == 0, csv;

	if (length > 0 && is_gzip != is_compressed(place))
		return refuse_opened_output(
			place, -EINVAL,
			is_gzip ? "it is compressed, and text cannot be appended to it; choose another output"
				: "it holds text, and compressed samples cannot be appended to it; "
				  "choose another output");
	if (is_gzip && holds_members(fd, &csv) && csv != (place->options->text == MEMBERS_CSV))
		return refuse_opened_output(place, -EINVAL,
					    "its samples have the other format; choose another output");
	return 0;
}

/*
 * No program reads a file with two kinds of lines. Other text is allowed: a log may have our lines among its own.
 */
static int check_format(const struct output_place *place, int fd)
{
	char begins[MOST_HEAD_BYTES];
	ssize_t length = pread(fd, begins, sizeof begins, 0);
	struct scan scan = scan_bytes(begins, length > 0 ? (size_t)length : 0), first = scan, line;
	bool is_csv, is_row;

	if (place->options->text == LINES_CSV && scan_literal(&scan, "{"))
		return refuse_opened_output(
			place, -EINVAL,
			"it holds JSON lines, and CSV cannot be appended to them; choose another output");
	/* A torn line is about to be cut off, or has a check of its own. */
	if (!scan_until(&first, '\n', &line))
		line = (struct scan){0};
	scan_literal(&scan, "\"");
	is_row = scan_left(&scan) && *scan.at >= '0' && *scan.at <= '9' && count_fields(line) > 1;
	is_csv = scan_literal(&scan, "timestamp");
	if (place->options->text == LINES_JSON && is_csv)
		return refuse_opened_output(
			place, -EINVAL,
			"it holds CSV, and JSON cannot be appended to it; choose another output");
	if (place->options->text == LINES_CSV && place->options->csv_head && (is_csv || is_row) &&
	    scan_left(&line) && !fits_layout(place->options->csv_head, line))
		return refuse_opened_output(
			place, -EINVAL,
			"it holds CSV with other columns; choose the same --csv-layout or another output");
	return 0;
}

/* A crash may have left a part of the header or of the first row alone, which has a time of ten digits. */
static bool begins_csv(struct scan text)
{
	static const char FIRST[] = "timestamp";
	struct scan line, head = text;
	int digits = 0;

	if (scan_until(&text, '\n', &line))
		return false;
	while (scan_left(&text) && *text.at >= '0' && *text.at <= '9') {
		text.at++;
		digits++;
	}
	scan_literal(&head, "\"");
	return digits == TIME_DIGITS ||
	       memcmp(head.at, FIRST, scan_left(&head) < strlen(FIRST) ? scan_left(&head) : strlen(FIRST)) ==
		       0;
}

/* How the end of the file is repaired: bytes of another program stay. NULs are what a power loss leaves of a file. */
static enum line_format kind_of_content(const struct output_place *place, int fd)
{
	enum line_format text = place->options->text;
	char begins[MOST_HEAD_BYTES];
	ssize_t length = pread(fd, begins, sizeof begins, 0);

	if (is_compressed(place) || length <= 0 || begins[0] == '\0' || is_recording(fd))
		return text;
	return text == LINES_CSV && begins_csv(scan_bytes(begins, (size_t)length)) ? text : LINES_OTHER;
}

static int append_to(const struct output_place *place, int *fd, struct opened_output *output)
{
	struct stat status;
	int r = check_compressed(place, *fd);

	if (r == 0 && !is_compressed(place))
		r = check_format(place, *fd);
	if (r < 0)
		return r;
	r = repair_tail(*fd, kind_of_content(place, *fd), &output->repair);
	if (r < 0 || fstat(*fd, &status) < 0)
		return refuse_errno(place, r < 0 ? r : -errno);
	output->had_content = status.st_size > 0;
	output->regular = true;
	output->fd = take_fd(fd);
	return 0;
}

/* The marks of an earlier recording belong to it, not to the next recording with that name. */
static void take_marks_along(const struct output_place *place, int number)
{
	CLEANUP_BUFFER struct buffer from = BUFFER(PATH_MAX), to = BUFFER(PATH_MAX);

	buffer_printf(&from, "%s.marks", place->name);
	buffer_printf(&to, "%s.%d.marks", place->name, number);
	if (!buffer_error(&from) && !buffer_error(&to))
		(void)renameat(place->dir_fd, from.data, place->dir_fd, to.data);
}

static int rotate_and_create(const struct output_place *place, struct opened_output *output)
{
	int number;

	if (place->link)
		return refuse_opened_output(
			place, -EEXIST,
			"it is a symbolic link to a file with content, which is not renamed; "
			"name the file itself or use --append");
	number = rename_aside(place->dir_fd, place->name);
	if (number == -ENOENT)
		return -EAGAIN;
	if (number < 0) {
		output_message(place->message, place->message_size,
			       "cannot write to '%s': it has content and cannot be renamed to '%s.1': %s",
			       output_shown_path(place->path), place->name, strerror(-number));
		return number;
	}
	output->renamed_number = (unsigned)number;
	take_marks_along(place, number);
	return create_output(place, output);
}

static int open_regular(const struct output_place *place, const struct stat *found,
			struct opened_output *output)
{
	bool use_it = found->st_size == 0 || place->options->append;
	CLEANUP_CLOSE int fd = -1;
	bool csv;
	int r;

	if (place->options->fresh && !place->options->append)
		return refuse_errno(place, -EEXIST);
	fd = open_in_place(place, O_RDWR | O_APPEND);
	/* The file is only going to be renamed, so it need not be writable. It is opened for its lock. */
	if (!use_it && (fd == -EACCES || fd == -EPERM))
		fd = open_in_place(place, O_RDONLY);
	if (fd == -ENOENT || fd == -ELOOP)
		return -EAGAIN;
	if (fd < 0)
		return refuse_errno(place, fd);
	r = lock_output(place, fd);
	if (r == 0)
		r = check_still_there(place, fd);
	if (r < 0)
		return r;
	if (use_it)
		return append_to(place, &fd, output);
	if (!place->link && !is_recording(fd) && !holds_members(fd, &csv))
		return refuse_opened_output(
			place, -EEXIST,
			"it has content that is not a recording, so it is neither renamed nor "
			"overwritten; choose another name");
	return rotate_and_create(place, output);
}

/*
 * Returns -EAGAIN if the opened file is not the one that was found: writing to a file as to a FIFO would overwrite
 * it.
 */
static int hand_over(const struct stat *found, int *fd, struct opened_output *output)
{
	struct stat opened;

	if (fstat(*fd, &opened) < 0 || !output_is_same_file(&opened, found))
		return -EAGAIN;
	output->fd = take_fd(fd);
	return 0;
}

static int open_fifo(const struct output_place *place, const struct stat *found, struct opened_output *output)
{
	CLEANUP_CLOSE int fd = open_in_place(place, O_WRONLY);

	if (fd == -ENXIO) {
		/* A FIFO without a reader cannot be opened for writing, so be its reader for a moment. */
		CLEANUP_CLOSE int reader_fd = open_in_place(place, O_RDWR);

		fd = reader_fd < 0 ? reader_fd : open_in_place(place, O_WRONLY);
		output->no_reader_yet = true;
	}
	return fd < 0 ? refuse_errno(place, fd) : hand_over(found, &fd, output);
}

static int open_device(const struct output_place *place, const struct stat *found,
		       struct opened_output *output)
{
	CLEANUP_CLOSE int fd = open_in_place(place, O_WRONLY);

	return fd < 0 ? refuse_errno(place, fd) : hand_over(found, &fd, output);
}

/*
 * In a shared folder any user can place a file, a FIFO or a hard link to another user's file for us to write to.
 */
static int check_owner(const struct output_place *place, const struct stat *found)
{
	if (!place->shared)
		return 0;
	if (found->st_uid != geteuid() && found->st_uid != place->dir_owner)
		return refuse_opened_output(
			place, -EACCES,
			"it belongs to another user, in a folder that everyone may write to; choose "
			"another name");
	if (S_ISREG(found->st_mode) && found->st_nlink > 1)
		return refuse_opened_output(
			place, -EACCES,
			"it has a second name, in a folder that everyone may write to; choose another name");
	return 0;
}

static int open_found(const struct output_place *place, const struct stat *found,
		      struct opened_output *output)
{
	int r = check_owner(place, found);

	if (r < 0)
		return r;
	switch (found->st_mode & S_IFMT) {
	case S_IFREG:
		return open_regular(place, found, output);
	case S_IFIFO:
		return open_fifo(place, found, output);
	case S_IFCHR:
		return open_device(place, found, output);
	case S_IFDIR:
		return refuse_opened_output(place, -EISDIR, file_place_fault(-EISDIR));
	case S_IFBLK:
		return refuse_opened_output(place, -EINVAL, "it is a disk; name a file");
	default:
		return refuse_opened_output(place, -EINVAL, "it is a socket; name a file");
	}
}

/* Tries once. Returns -EAGAIN if another process changed the folder between two steps. */
static int open_name(struct output_place *place, struct opened_output *output)
{
	struct stat found;
	int r;

	place->link = false;
	r = fstatat(place->dir_fd, place->name, &found, AT_SYMLINK_NOFOLLOW);
	if (r == 0 && S_ISLNK(found.st_mode)) {
		if (place->shared)
			return refuse_opened_output(
				place, -ELOOP,
				"it is a symbolic link in a folder that everyone may write to; name "
				"the file itself");
		place->link = true;
		r = fstatat(place->dir_fd, place->name, &found, 0);
	}
	if (r == 0)
		return open_found(place, &found, output);
	return errno == ENOENT ? create_output(place, output) : refuse_errno(place, -errno);
}

static int open_output_folder(struct output_place *place)
{
	const char *slash = strrchr(place->path, '/');
	size_t length = slash ? (size_t)(slash - place->path) : 0;
	CLEANUP_FREE char *folder = length ? strndup(place->path, length) : strdup(slash ? "/" : ".");
	struct stat status;

	if (!folder)
		return refuse_errno(place, -ENOMEM);
	place->name = slash ? slash + 1 : place->path;
	place->dir_fd = move_above_stdio(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (place->dir_fd < 0)
		return refuse_opened_output(place, place->dir_fd, file_place_fault(place->dir_fd));
	if (fstat(place->dir_fd, &status) < 0)
		return refuse_errno(place, -errno);
	place->dir_owner = status.st_uid;
	place->shared = (status.st_mode & S_ISVTX) && (status.st_mode & S_IWOTH);
	if (!*place->name)
		return refuse_opened_output(place, -EISDIR, file_place_fault(-EISDIR));
	return 0;
}

RUNS_ONCE int open_output(const char *path, const struct output_options *options,
			  struct opened_output *ret_output, char *ret_message, size_t message_size)
{
	struct output_place place = {.path = path,
				     .dir_fd = -1,
				     .options = options,
				     .message = ret_message,
				     .message_size = message_size};
	struct opened_output output = {.fd = -1};
	int r;

	if (!*path)
		return refuse_opened_output(&place, -ENOENT, "the name is empty");
	r = open_output_folder(&place);
	if (r == 0)
		r = -EAGAIN;
	for (int i = 0; i < RACES_LOST_AT_MOST && r == -EAGAIN; i++)
		r = open_name(&place, &output);
	if (r == 0)
		*ret_output = output;
	cleanup_close(&place.dir_fd);
	return r == -EAGAIN ? refuse_opened_output(&place, r, "other programs keep replacing it") : r;
}
