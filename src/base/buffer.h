/*
 * A growing byte buffer with a ceiling that is set once.
 *
 * An append never reports an error itself. Past the ceiling, or without memory, the buffer is marked failed,
 * drops its contents and ignores further appends, so callers check once at the end (buffer_error).
 * buffer_clear() keeps the memory for the next use, and buffer_done() frees it.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *data;      /* NUL-terminated whenever it is not NULL */
	size_t length;   /* bytes, without the NUL */
	size_t capacity; /* bytes allocated */
	size_t ceiling;  /* length never exceeds this */
	int error;       /* 0, -ENOMEM or -ENOBUFS */
};

#define BUFFER(ceiling_bytes) ((struct buffer){.ceiling = (ceiling_bytes)})

void buffer_done(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);

/* 0, or the negative errno of the first append that failed since the last clear. */
static inline int buffer_error(const struct buffer *buffer)
{
	return buffer->error;
}

/* Makes room for `extra` more bytes (and a NUL). Returns 0 or a negative errno, also kept in ->error. */
int buffer_reserve(struct buffer *buffer, size_t extra);

/* Appends `length` bytes, which the caller then writes. Returns their address. NULL: memory is exhausted. */
char *buffer_extend(struct buffer *buffer, size_t length);

void buffer_add(struct buffer *buffer, const void *bytes, size_t length);
void buffer_add_text(struct buffer *buffer, const char *text);

static inline void buffer_add_char(struct buffer *buffer, char c)
{
	if (buffer->error || buffer->length + 1 >= buffer->capacity || buffer->length >= buffer->ceiling) {
		buffer_add(buffer, &c, 1);
		return;
	}
	buffer->data[buffer->length++] = c;
	buffer->data[buffer->length] = '\0';
}

void buffer_add_u64(struct buffer *buffer, uint64_t value);
void buffer_add_i64(struct buffer *buffer, int64_t value);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A real number rounded half away from zero to at most `decimals` (0-9) places, in its shortest form with
 * at least one digit after the point: 2.0, 0.25. With decimals 0 an integer is written. NaN and infinity
 * are the caller's mistake and are written as null.
 */
void buffer_add_real(struct buffer *buffer, double value, int decimals);

/* The same with exactly `decimals` places (CSV columns of fixed form). */
void buffer_add_real_fixed(struct buffer *buffer, double value, int decimals);

static inline void cleanup_buffer(struct buffer *buffer)
{
	buffer_done(buffer);
}
#define CLEANUP_BUFFER __attribute__((cleanup(cleanup_buffer)))
