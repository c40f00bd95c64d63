/*
 * The bytes and lines of one file, plain or gzip, by streaming: memory does not grow with the file.
 *
 * A gzip file may have several members (appended, or one per upload) and may be cut off anywhere; what was
 * decompressed before that is delivered. Bytes that a writer adds while we read are seen if they come before the
 * end is reached.
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
	SOURCE_LINE_BYTES = 8 << 20, /* a longer line is no sample */
};

struct source_gzip;

struct source {
	char *path;
	int fd;
	struct source_gzip *gzip; /* NULL: plain */
	struct buffer window;     /* what was read and not yet delivered, from `at` on */
	size_t at;
	bool ended;          /* nothing more comes into the window */
	bool cut_off;        /* a gzip member ended in the middle, or is damaged */
	int64_t line_number; /* of the line delivered last, from 1 */
};

struct source_line {
	struct scan text; /* without the line end (LF or CRLF); valid until the next call */
	bool terminated;  /* false: the file ended without a line end */
	bool too_long;    /* only its beginning is here */
};

/* "-" is standard input. */
int source_open(struct source *ret_source, const char *path, struct rt_problem *problem);
void source_close(struct source *source);

/* 1: a line; 0: the end; negative errno: reading failed. */
int source_next_line(struct source *source, struct source_line *ret_line);

/* What comes next, without taking it: at least `wanted` bytes if there are as many. */
int source_peek(struct source *source, size_t wanted, struct scan *ret_bytes);

/* Takes up to `size` bytes: their number, 0 at the end, or a negative errno. */
ssize_t source_read(struct source *source, void *bytes, size_t size);
