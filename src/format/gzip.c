/* Gzip by zlib. See gzip.h. */
#include "format/gzip.h"

#include <errno.h>
#include <string.h>

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

static int deflate_into_buffer(struct gzip *gzip, int flush)
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
	return deflate_into_buffer(gzip, Z_NO_FLUSH);
}

int gzip_close(struct gzip *gzip)
{
	int r;

	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	r = buffer_error(gzip->out);
	if (r == 0)
		r = deflate_into_buffer(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	return r;
}

bool begins_gzip(const void *bytes, size_t length)
{
	return length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

int gunzip_open(struct gunzip *ret_gunzip)
{
	*ret_gunzip = (struct gunzip){0};
	return inflateInit2(&ret_gunzip->stream, GZIP_WINDOW_BITS) == Z_OK ? 0 : -ENOMEM;
}

void gunzip_close(struct gunzip *gunzip)
{
	inflateEnd(&gunzip->stream);
}

bool gunzip_needs_input(const struct gunzip *gunzip)
{
	return gunzip->stream.avail_in == 0;
}

void gunzip_give(struct gunzip *gunzip, const void *bytes, size_t length)
{
	gunzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	gunzip->stream.avail_in = (unsigned int)length;
}

size_t gunzip_read(struct gunzip *gunzip, void *bytes, size_t size)
{
	z_stream *stream = &gunzip->stream;

	stream->next_out = bytes;
	stream->avail_out = (unsigned int)size;
	while (stream->avail_out == size && stream->avail_in && !gunzip->damaged) {
		int status;

		gunzip->in_member = true;
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_STREAM_END) {
			gunzip->in_member = false;
			(void)inflateReset(stream);
		} else if (status != Z_OK && status != Z_BUF_ERROR) {
			gunzip->damaged = true;
		}
	}
	return size - stream->avail_out;
}

int gunzip(const void *bytes, size_t length, struct buffer *out)
{
	struct gunzip reader;
	size_t count = 1;
	int r = gunzip_open(&reader);

	if (r < 0)
		return r;
	reader.in_member = true;
	gunzip_give(&reader, bytes, length);
	while (r == 0 && count) {
		r = buffer_reserve(out, STEP_BYTES);
		if (r < 0)
			break;
		count = gunzip_read(&reader, out->data + out->length, STEP_BYTES);
		out->length += count;
		out->data[out->length] = '\0';
	}
	gunzip_close(&reader);
	return r < 0 ? r : reader.in_member || reader.damaged ? -EBADMSG : 0;
}
