/* Gzip into and out of buffers: one member without name and time, so that equal rows give equal bytes. */
#pragma once

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

/* Appends the contents of a member. -EBADMSG: damaged or cut off; -ENOBUFS: larger than the buffer's ceiling. */
int gunzip(const void *bytes, size_t length, struct buffer *out);
