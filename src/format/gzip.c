/* Compresses with zlib; see gzip.h. */
#include "format/gzip.h"

#include <errno.h>

enum { LEVEL = 6, GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, STEP_BYTES = 32 << 10 };

int gzip_open(struct gzip *ret_gzip, struct buffer *out)
{
	/* Initialise in place, because zlib keeps a pointer to the stream. */
	*ret_gzip = (struct gzip){.out = out};
	if (deflateInit2(&ret_gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	return 0;
}

static int run(struct gzip *gzip, int flush)
{
	z_stream *stream = &gzip->stream;

	do {
		int r = buffer_reserve(gzip->out, STEP_BYTES);

		if (r < 0)
			return r;
		stream->next_out = (unsigned char *)gzip->out->data + gzip->out->length;
		stream->avail_out = STEP_BYTES;
		if (deflate(stream, flush) == Z_STREAM_ERROR)
			return -EINVAL;
		gzip->out->length += STEP_BYTES - stream->avail_out;
		gzip->out->data[gzip->out->length] = '\0';
	} while (stream->avail_out == 0);
	return 0;
}

int gzip_add(struct gzip *gzip, const void *bytes, size_t length)
{
	gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	gzip->stream.avail_in = (unsigned int)length;
	return run(gzip, Z_NO_FLUSH);
}

int gzip_close(struct gzip *gzip)
{
	int r;

	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	r = buffer_error(gzip->out);
	if (r == 0)
		r = run(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	return r;
}

int gunzip(const void *bytes, size_t length, struct buffer *out)
{
	z_stream stream = {0};
	int state = Z_OK, r = 0;

	if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	stream.next_in = (unsigned char *)(uintptr_t)bytes;
	stream.avail_in = (unsigned int)length;
	while (state == Z_OK) {
		r = buffer_reserve(out, STEP_BYTES);
		if (r < 0)
			break;
		stream.next_out = (unsigned char *)out->data + out->length;
		stream.avail_out = STEP_BYTES;
		state = inflate(&stream, Z_NO_FLUSH);
		out->length += STEP_BYTES - stream.avail_out;
		out->data[out->length] = '\0';
	}
	inflateEnd(&stream);
	return r < 0 ? r : state == Z_STREAM_END ? 0 : -EBADMSG;
}
