/* Gzip into and out of buffers: one member without a name or a time, so that equal rows give equal bytes. */
#pragma once

#include <zlib.h>

#include "base/buffer.h"

struct gzip {
	z_stream stream;
	struct buffer *out;
};

/* 0 or -ENOMEM. A writer that was opened must be closed. */
int gzip_open(struct gzip *ret_gzip, struct buffer *out);
int gzip_add(struct gzip *gzip, const void *bytes, size_t length);
/* Ends the member and frees the writer: 0 or the first error. */
int gzip_close(struct gzip *gzip);

/* Appends what a member holds. -EBADMSG: damaged or cut off; -ENOBUFS: more than the buffer's ceiling. */
int gunzip(const void *bytes, size_t length, struct buffer *out);
