/* Reads and writes the history's files. See history_store.h. */
#include "history/history_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/write_all.h"
#include "format/gzip.h"

enum { NAME_BYTES = 48, PIECE_BYTES = 256 << 10, COMPRESSED_BYTES = 1 << 20, LINE_MOST = 1 << 20 };

static const char LINES[] = "runs.jsonl";

/* A regular file of this user or root, opened without following a link or waiting. */
static int open_own(int folder, const char *name, int flags)
{
	CLEANUP_CLOSE int fd =
		openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (status.st_uid != geteuid() && status.st_uid != 0))
		return -EPERM;
	return take_fd(&fd);
}

struct line_reader {
	size_t line; /* where the last line begins */
	bool skips;  /* to its end */
	bool has_skipped;
};

/* Adds bytes that were read behind the text, but for those of a line that is too long. */
static void take_piece(struct line_reader *reader, struct buffer *text, size_t length)
{
	char *piece = text->data + text->length, *end;

	if (reader->skips) {
		end = memchr(piece, '\n', length);
		if (!end)
			return;
		length -= (size_t)(end + 1 - piece);
		memmove(piece, end + 1, length);
		reader->skips = false;
	}
	end = memrchr(piece, '\n', length);
	text->length += length;
	if (end)
		reader->line = (size_t)(end + 1 - text->data);
	if (text->length - reader->line > LINE_MOST) {
		text->length = reader->line;
		reader->skips = reader->has_skipped = true;
	}
}

int history_read_lines(int folder, struct buffer *text)
{
	CLEANUP_CLOSE int fd = open_own(folder, LINES, O_RDONLY);
	struct line_reader reader = {.line = text->length};

	while (fd >= 0) {
		ssize_t length;

		if (text->length + PIECE_BYTES > text->ceiling)
			return 1;
		if (buffer_reserve(text, PIECE_BYTES) < 0)
			return buffer_error(text);
		length = read(fd, text->data + text->length, PIECE_BYTES);
		if (length < 0 && errno != EINTR)
			return -errno;
		if (length == 0)
			return reader.has_skipped;
		if (length > 0)
			take_piece(&reader, text, (size_t)length);
		text->data[text->length] = '\0';
	}
	return fd == -ENOENT ? 0 : fd;
}

int history_append(int folder, const struct buffer *lines)
{
	CLEANUP_CLOSE int fd = open_own(folder, LINES, O_WRONLY | O_APPEND | O_CREAT);
	ssize_t written;

	if (fd < 0)
		return fd;
	if (buffer_error(lines))
		return buffer_error(lines);
	written = lines->length ? write(fd, lines->data, lines->length) : 0;
	if (written < 0)
		return -errno;
	return (size_t)written == lines->length ? 0 : -ENOSPC;
}

/* With the pid: on a file system without locks, two commands may do this at once. */
static void partial_file(char ret_name[static NAME_BYTES], unsigned number)
{
	snprintf(ret_name, NAME_BYTES, "%u.%d.partial", number, (int)getpid());
}

static int write_new(int folder, const char *name, const struct buffer *text)
{
	CLEANUP_CLOSE int fd = -1;
	int r;

	unlinkat(folder, name, 0);
	fd = open_own(folder, name, O_WRONLY | O_CREAT | O_EXCL);
	r = fd < 0 ? fd : buffer_error(text);
	if (r == 0)
		r = write_all(fd, text->data, text->length);
	if (r < 0)
		unlinkat(folder, name, 0);
	return r;
}

/* Takes no new block of the disk: what is left after a run was removed. */
static int shorten_lines(int folder, const struct buffer *lines)
{
	CLEANUP_CLOSE int fd = open_own(folder, LINES, O_WRONLY);
	struct stat status;
	int r;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0 || status.st_size < (off_t)lines->length)
		return -ENOSPC;
	r = write_all(fd, lines->data, lines->length);
	return r == 0 && ftruncate(fd, (off_t)lines->length) < 0 ? -errno : r;
}

int history_replace_lines(int folder, const struct buffer *lines)
{
	char partial[NAME_BYTES];
	int r;

	partial_file(partial, 0);
	r = write_new(folder, partial, lines);
	if (r == -ENOSPC || r == -EDQUOT)
		return shorten_lines(folder, lines);
	if (r == 0 && renameat(folder, partial, folder, LINES) < 0) {
		r = -errno;
		unlinkat(folder, partial, 0);
	}
	return r;
}

/* ---- recordings -------------------------------------------------------------------------------------- */

static int flush_compressed(int to, struct buffer *out)
{
	int r = buffer_error(out);

	if (r == 0 && out->length)
		r = write_all(to, out->data, out->length);
	buffer_clear(out);
	return r;
}

static int compress_into(int from, int to)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(COMPRESSED_BYTES);
	CLEANUP_FREE char *piece = malloc(PIECE_BYTES);
	struct gzip gzip;
	int r = piece ? gzip_open(&gzip, &out) : -ENOMEM, closed;

	if (r < 0)
		return r;
	while (r == 0) {
		ssize_t length = read(from, piece, PIECE_BYTES);

		if (length == 0)
			break;
		if (length < 0)
			r = errno == EINTR ? 0 : -errno;
		else
			r = gzip_add(&gzip, piece, (size_t)length);
		if (r == 0)
			r = flush_compressed(to, &out);
	}
	closed = gzip_close(&gzip);
	r = r < 0 ? r : closed;
	return r < 0 ? r : flush_compressed(to, &out);
}

static void run_file(char ret_name[static NAME_BYTES], unsigned number, const char *ending)
{
	snprintf(ret_name, NAME_BYTES, "%u%s", number, ending);
}

int history_compress(int folder, unsigned number)
{
	char plain[NAME_BYTES], partial[NAME_BYTES], compressed[NAME_BYTES], marks[NAME_BYTES],
		new_marks[NAME_BYTES];
	CLEANUP_CLOSE int from = -1, to = -1;
	int r;

	run_file(plain, number, ".jsonl");
	partial_file(partial, number);
	run_file(compressed, number, ".jsonl.gz");
	run_file(marks, number, ".jsonl.marks");
	run_file(new_marks, number, ".jsonl.gz.marks");
	from = open_own(folder, plain, O_RDONLY);
	if (from < 0)
		return from;
	unlinkat(folder, partial, 0);
	to = open_own(folder, partial, O_WRONLY | O_CREAT | O_EXCL);
	r = to < 0 ? to : compress_into(from, to);
	if (r == 0 && renameat(folder, partial, folder, compressed) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(folder, partial, 0);
		return r;
	}
	(void)renameat(folder, marks, folder, new_marks);
	unlinkat(folder, plain, 0);
	return 0;
}

void history_remove_files(int folder, unsigned number)
{
	static const char *const ENDINGS[] = {".jsonl", ".jsonl.gz", ".jsonl.marks", ".jsonl.gz.marks"};

	for (size_t i = 0; i < ARRAY_SIZE(ENDINGS); i++) {
		char name[NAME_BYTES];

		run_file(name, number, ENDINGS[i]);
		unlinkat(folder, name, 0);
	}
}

void history_mark_removed(int folder, unsigned number, bool is_newest)
{
	char name[NAME_BYTES];
	int fd;

	run_file(name, number, ".removed");
	if (!is_newest) {
		unlinkat(folder, name, 0);
		return;
	}
	fd = open_own(folder, name, O_WRONLY | O_CREAT);
	if (fd >= 0)
		close(fd);
}
