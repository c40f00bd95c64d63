/*
 * Gzip, the only place that calls zlib: a writer into a buffer and a reader of pieces.
 *
 * The writer makes one member without name and time, so that equal bytes give equal files.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <zlib.h>

#include "base/buffer.h"

struct gzip {
	z_stream stream;
	struct buffer *out;
};

/* Returns 0 or -ENOMEM. Close every writer that was opened. */
int gzip_open(struct gzip *ret_gzip, struct buffer *out);
int gzip_add(struct gzip *gzip, const void *bytes, size_t length);
/* Ends the member and frees the writer. Returns 0 or the first error. */
int gzip_close(struct gzip *gzip);

/* A reader of members that follow each other. */
struct gunzip {
	z_stream stream;
	bool in_member; /* the end of the last member has not come yet */
	bool damaged;
};

bool begins_gzip(const void *bytes, size_t length);

/* Returns 0 or -ENOMEM. Close every reader that was opened. */
int gunzip_open(struct gunzip *ret_gunzip);
void gunzip_close(struct gunzip *gunzip);

/* Whether it has read everything that it was given. */
bool gunzip_needs_input(const struct gunzip *gunzip);
/* Gives it the next bytes of the file, which stay where they are until it needs input again. */
void gunzip_give(struct gunzip *gunzip, const void *bytes, size_t length);
/* Decompresses into `bytes` and returns how many. After damage the bytes before it. 0: it needs input, or is damaged. */
size_t gunzip_read(struct gunzip *gunzip, void *bytes, size_t size);

/* Appends the contents of whole members. -EBADMSG: damaged or cut off; -ENOBUFS: larger than the buffer's ceiling. */
int gunzip(const void *bytes, size_t length, struct buffer *out);
