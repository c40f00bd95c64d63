/* Reads the bytes and lines of a file, plain or gzip. See source.h. */
#include "record/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/gzip.h"

struct source_gzip {
	struct gunzip reader;
	unsigned char input[SOURCE_CHUNK_BYTES + 2]; /* + 2: the magic number, read before */
};

static void (*tell_damage)(const char *path);

void source_on_damage(void (*tell)(const char *path))
{
	tell_damage = tell;
}

static ssize_t read_source_bytes(int fd, void *bytes, size_t size)
{
	ssize_t got;

	do
		got = read(fd, bytes, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void close_gzip(struct source *source)
{
	if (!source->gzip)
		return;
	gunzip_close(&source->gzip->reader);
	free(source->gzip);
	source->gzip = NULL;
}

/* Moves the bytes that the window has already read into gzip's input. */
static int open_gzip(struct source *source)
{
	struct source_gzip *gzip = calloc(1, sizeof(*gzip));
	int error;

	if (!gzip)
		return -ENOMEM;
	error = gunzip_open(&gzip->reader);
	if (error < 0) {
		free(gzip);
		return error;
	}
	memcpy(gzip->input, source->window.data, source->window.length);
	gunzip_give(&gzip->reader, gzip->input, source->window.length);
	source->gzip = gzip;
	source->bounded = false;
	buffer_clear(&source->window);
	return 0;
}

static ssize_t refill_input(struct source *source)
{
	struct source_gzip *gzip = source->gzip;
	ssize_t got;

	if (!gunzip_needs_input(&gzip->reader))
		return 1;
	got = read_source_bytes(source->fd, gzip->input, SOURCE_CHUNK_BYTES);
	if (got > 0)
		gunzip_give(&gzip->reader, gzip->input, (size_t)got);
	return got;
}

/* Decompresses into `bytes`. Damage ends the stream, but the bytes before it are delivered. */
static ssize_t inflate_some(struct source *source, void *bytes, size_t size)
{
	struct gunzip *reader = &source->gzip->reader;
	size_t length = 0;

	while (!length && !reader->damaged) {
		ssize_t got = refill_input(source);

		if (got < 0)
			return got;
		if (got == 0) {
			/* The rest of a member that is being written may come. */
			source->cut_off |= reader->in_member && !source->follows;
			return 0;
		}
		length = gunzip_read(reader, bytes, size);
	}
	source->cut_off |= reader->damaged;
	if (reader->damaged && !source->follows && tell_damage) {
		tell_damage(source->path);
		source->damage_told = true;
	}
	return (ssize_t)length;
}

/* Reads more into the window: 1, 0 at the end, or a negative errno. */
static int fill_window(struct source *source)
{
	struct buffer *window = &source->window;
	ssize_t got;
	int result;

	if (source->ended)
		return 0;
	if (source->at) {
		memmove(window->data, window->data + source->at, window->length - source->at);
		window->length -= source->at;
		source->at = 0;
	}
	result = buffer_reserve(window, SOURCE_CHUNK_BYTES);
	if (result < 0)
		return result;
	if (source->gzip)
		got = inflate_some(source, window->data + window->length, SOURCE_CHUNK_BYTES);
	else
		got = read_source_bytes(source->fd, window->data + window->length, SOURCE_CHUNK_BYTES);
	if (got == -EAGAIN && source->follows)
		got = 0;
	if (got < 0)
		return (int)got;
	source->ended = (got == 0 && !source->follows) || source->cut_off;
	window->length += (size_t)got;
	return got > 0;
}

static int open_source_file(const char *path, bool follows, bool *ret_regular)
{
	struct stat status = {0};
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (follows ? O_NONBLOCK : 0);
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, flags);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	*ret_regular = S_ISREG(status.st_mode);
	return fd;
}

static int open_by_content(struct source *ret_source, const char *path, bool follows,
			   struct rt_problem *problem)
{
	/* Room for the longest line, the next chunk, and bytes read ahead. */
	struct source source = {.window = BUFFER(SOURCE_LINE_BYTES + 4 * SOURCE_CHUNK_BYTES),
				.follows = follows};
	struct scan start = {0};
	int result;

	source.fd = open_source_file(path, follows, &source.bounded);
	if (source.fd == -EISDIR)
		return problem_set(
			problem, source.fd,
			"%s: a folder; name the recordings in it (summary, report and recommend -j "
			"take the folder of a workflow)",
			path);
	if (source.fd < 0)
		return problem_set(problem, source.fd, "%s: %s", path, strerror(-source.fd));
	source.path = strdup(path);
	result = source.path ? buffer_reserve(&source.window, SOURCE_CHUNK_BYTES) : -ENOMEM;
	if (result == 0)
		result = source_peek(&source, 2, &start);
	if (result >= 0 && begins_gzip(start.at, scan_left(&start)))
		result = open_gzip(&source);
	if (result >= 0)
		result = source_peek(&source, 3, &start);
	/* Skip the byte order mark that spreadsheets write. */
	if (result >= 0 && scan_left(&start) >= 3 && memcmp(start.at, "\xef\xbb\xbf", 3) == 0)
		source.at += 3;
	if (result < 0) {
		source_close(&source);
		return problem_set(problem, result, "%s: %s", path, strerror(-result));
	}
	*ret_source = source;
	return 0;
}

int source_open(struct source *ret_source, const char *path, struct rt_problem *problem)
{
	return open_by_content(ret_source, path, false, problem);
}

int source_follow(struct source *ret_source, const char *path, struct rt_problem *problem)
{
	return open_by_content(ret_source, path, true, problem);
}

void source_close(struct source *source)
{
	close_gzip(source);
	buffer_done(&source->window);
	free(source->path);
	if (source->fd >= 0)
		close(source->fd);
	*source = (struct source){.fd = -1};
}

int source_peek(struct source *source, size_t wanted, struct scan *ret_bytes)
{
	int result = 1;

	while (result > 0 && source->window.length - source->at < wanted)
		result = fill_window(source);
	if (result < 0)
		return result;
	*ret_bytes = scan_bytes(source->window.data + source->at, source->window.length - source->at);
	return 0;
}

static void end_as_damage(struct source *source)
{
	source->at = source->window.length;
	source->ended = source->cut_off = true;
}

/*
 * Counts the bytes without text in a row. After too many, the rest is damage: a small gzip file can contain any number of them, and
 * a device never ends. A plain file has as many bytes as it says.
 */
static void count_blank(struct source *source, const char *bytes, size_t length)
{
	const char *at = bytes, *end = bytes + length;

	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\0'))
		at++;
	source->blank_bytes = at < end ? 0 : source->blank_bytes + length + 1;
	if (!source->bounded && source->blank_bytes > SOURCE_BLANK_BYTES)
		end_as_damage(source);
}

/*
 * Drops the rest of a line that is too long. A file whose first line does not end is none of ours. Behind other lines, a crash of the
 * machine may have left a hole of any size in a plain file.
 */
static int skip_line(struct source *source)
{
	bool any_length = source->bounded && source->line_number;
	size_t skipped = 0;

	while (any_length || skipped <= SOURCE_BLANK_BYTES) {
		struct buffer *window = &source->window;
		char *start = window->data + source->at;
		char *newline = memchr(start, '\n', window->length - source->at);
		int result;

		if (newline) {
			source->at += (size_t)(newline - start) + 1;
			return 0;
		}
		skipped += window->length - source->at;
		source->at = window->length;
		count_blank(source, start, (size_t)(window->data + window->length - start));
		result = fill_window(source);
		if (result <= 0)
			return result;
	}
	end_as_damage(source);
	return 0;
}

static int deliver_line(struct source *source, const char *start, size_t length, bool terminated,
			struct source_line *ret_line)
{
	source->at = (size_t)(start - source->window.data) + length + terminated;
	count_blank(source, start, length);
	if (length && start[length - 1] == '\r')
		length--;
	source->line_number++;
	*ret_line = (struct source_line){.text = scan_bytes(start, length), .terminated = terminated};
	return 1;
}

int source_next_line(struct source *source, struct source_line *ret_line)
{
	struct buffer *window = &source->window;
	size_t looked_at = 0;
	int result;

	for (;;) {
		size_t left = window->length - source->at;
		char *start = window->data + source->at;
		char *newline = memchr(start + looked_at, '\n', left - looked_at);

		if (newline)
			return deliver_line(source, start, (size_t)(newline - start), true, ret_line);
		if (left > SOURCE_LINE_BYTES) {
			result = skip_line(source);
			source->line_number++;
			*ret_line = (struct source_line){
				.text = scan_bytes("", 0), .terminated = true, .too_long = true};
			return result < 0 ? result : 1;
		}
		looked_at = left;
		result = fill_window(source);
		if (result < 0)
			return result;
		if (result == 0)
			return left && !source->follows ? deliver_line(source, window->data + source->at,
								       left, false, ret_line)
							: 0;
	}
}

int source_next_line_after(struct source *source, int64_t damaged_lines, struct source_line *ret_line)
{
	return damaged_lines < SOURCE_DAMAGED_LINES || source->bounded ? source_next_line(source, ret_line)
								       : 0;
}

ssize_t source_read(struct source *source, void *bytes, size_t size)
{
	size_t left = source->window.length - source->at;
	int result;

	if (!left) {
		result = fill_window(source);
		if (result <= 0)
			return result;
		left = source->window.length - source->at;
	}
	if (size > left)
		size = left;
	memcpy(bytes, source->window.data + source->at, size);
	source->at += size;
	return (ssize_t)size;
}
