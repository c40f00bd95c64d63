/*
 * Reads the bytes and lines of one file, plain or gzip. It streams, so memory does not grow with the file.
 *
 * A gzip file may have several members (appended, or one per upload) and may be cut off anywhere. The bytes
 * decompressed before the cut are delivered. Bytes that a writer adds while we read are seen if they come
 * before we reach the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/scan.h"
#include "record/problem.h"

enum {
	SOURCE_CHUNK_BYTES = 256 << 10,
	SOURCE_LINE_BYTES = 8 << 20, /* a longer line is not a sample */
	/*
	 * This many zeros or empty lines in a row, or so long a line, end a gzip file, a pipe or a device as damage. So does the
	 * first line of a plain file.
	 */
	SOURCE_BLANK_BYTES = 64 << 20,
	/* So many damaged lines before the first good one are another kind of file, or a device that never ends. */
	SOURCE_DAMAGED_LINES = 100000,
};

struct source_gzip;

struct source {
	char *path;
	int fd;
	struct source_gzip *gzip; /* NULL: plain */
	struct buffer window;     /* bytes read but not yet delivered, from `at` on */
	size_t at;
	bool bounded;     /* a plain file: it has as many bytes as it says */
	bool ended;       /* the window gets no more bytes */
	bool damage_told; /* to source_on_damage() */
	bool cut_off;     /* a gzip member ended in the middle, or is damaged, or no text came any more */
	bool follows; /* the end of the file is not the end: more may come, and a line without its end waits for it */
	size_t blank_bytes;  /* zeros, spaces and line ends since the last text */
	int64_t line_number; /* of the last delivered line, from 1 */
};

struct source_line {
	struct scan text; /* without the line end (LF or CRLF); valid until the next call */
	bool terminated;  /* false: the file ended without a line end */
	bool too_long;    /* `text` is empty */
};

/* `tell` gets the path of each gzip file whose bytes or checksum are wrong. */
void source_on_damage(void (*tell)(const char *path));

/* "-" is standard input. */
int source_open(struct source *ret_source, const char *path, struct rt_problem *problem);
/*
 * The same for a file or pipe to which a recorder still writes. A call that meets the end, or a pipe that is empty, delivers
 * what there is. The next call looks again.
 */
int source_follow(struct source *ret_source, const char *path, struct rt_problem *problem);
void source_close(struct source *source);

/* Reads a line: 1, 0 at the end, or a negative errno. */
int source_next_line(struct source *source, struct source_line *ret_line);
/* The same, but a pipe or device ends after SOURCE_DAMAGED_LINES. */
int source_next_line_after(struct source *source, int64_t damaged_lines, struct source_line *ret_line);

/* Shows the next bytes without consuming them: at least `wanted`, or fewer at the end of the file. */
int source_peek(struct source *source, size_t wanted, struct scan *ret_bytes);

/* Reads up to `size` bytes. Returns their number, 0 at the end, or a negative errno. */
ssize_t source_read(struct source *source, void *bytes, size_t size);
