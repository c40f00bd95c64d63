/* A growing byte buffer with a ceiling. See buffer.h. */
#include "base/buffer.h"

#include "base/runs_once.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_print.h"

enum { FIRST_CAPACITY = 256 };

void buffer_done(struct buffer *buffer)
{
	size_t ceiling = buffer->ceiling;

	free(buffer->data);
	*buffer = BUFFER(ceiling);
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	buffer->error = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

static int fail_buffer(struct buffer *buffer, int error)
{
	buffer_clear(buffer);
	buffer->error = error;
	return error;
}

int buffer_reserve(struct buffer *buffer, size_t extra)
{
	size_t wanted;
	char *data;

	if (buffer->error)
		return buffer->error;
	if (extra > buffer->ceiling || buffer->length > buffer->ceiling - extra)
		return fail_buffer(buffer, -ENOBUFS);
	if (buffer->length + extra < buffer->capacity)
		return 0;
	wanted = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
	while (wanted <= buffer->length + extra)
		wanted *= 2;
	data = realloc(buffer->data, wanted);
	if (!data)
		return fail_buffer(buffer, -ENOMEM);
	buffer->data = data;
	buffer->capacity = wanted;
	data[buffer->length] = '\0';
	return 0;
}

/* Nearly every append has room: a sample has 1,000, so they do not call. */
static inline bool buffer_has_room(const struct buffer *buffer, size_t extra)
{
	return !buffer->error && extra < buffer->capacity - buffer->length &&
	       extra <= buffer->ceiling - buffer->length;
}

char *buffer_extend(struct buffer *buffer, size_t length)
{
	char *added;

	if (!buffer_has_room(buffer, length) && buffer_reserve(buffer, length) < 0)
		return NULL;
	added = buffer->data + buffer->length;
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
	return added;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t length)
{
	char *added = buffer_extend(buffer, length);

	if (added && length)
		memcpy(added, bytes, length);
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

/* Writes digits up to `end`, at least `count` of them. Returns where they begin. */
static char *digits_before(char *end, uint64_t value, int count)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (--count > 0 || value);
	return end;
}

void buffer_add_u64(struct buffer *buffer, uint64_t value)
{
	char digits[20], *end = digits + sizeof digits, *start = digits_before(end, value, 1);

	buffer_add(buffer, start, (size_t)(end - start));
}

void buffer_add_i64(struct buffer *buffer, int64_t value)
{
	if (value < 0)
		buffer_add_char(buffer, '-');
	buffer_add_u64(buffer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

SELDOM void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = plain_vprint(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0 || buffer_reserve(buffer, (size_t)length) < 0)
		return;
	va_start(arguments, format);
	plain_vprint(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->length += (size_t)length;
}

static const uint64_t POWERS_OF_TEN[] = {1,      10,      100,      1000,      10000,
					 100000, 1000000, 10000000, 100000000, 1000000000};

#define FIRST_WITHOUT_HALVES 4503599627370496.0
#define FIRST_BEYOND_U64 18446744073709551616.0

/*
 * Rounds like a reader that subtracts rounded totals: scale, add a half, truncate. Above FIRST_WITHOUT_HALVES a
 * double cannot hold the half. The whole part and the fraction are both exact, so they are rounded separately.
 */
static uint64_t split_decimal(double magnitude, uint64_t scale, double *ret_whole)
{
	uint64_t scaled;

	if (magnitude * (double)scale < FIRST_WITHOUT_HALVES) {
		scaled = (uint64_t)(magnitude * (double)scale + 0.5);
		*ret_whole = (double)(scaled / scale);
		return scaled % scale;
	}
	*ret_whole = magnitude < 0x1p63 ? (double)(uint64_t)magnitude : magnitude;
	scaled = (uint64_t)((magnitude - *ret_whole) * (double)scale + 0.5);
	*ret_whole += (double)(scaled / scale);
	return scaled % scale;
}

static void add_real_digits(struct buffer *buffer, double value, int decimals, bool shortest)
{
	char digits[20 + 1 + 9], *const point = digits + 20, *end = point, *start;
	uint64_t fraction;
	double whole;

	if (!isfinite(value)) {
		buffer_add_text(buffer, "null");
		return;
	}
	fraction = split_decimal(fabs(value), POWERS_OF_TEN[decimals], &whole);
	if (value < 0 && (whole > 0 || fraction))
		buffer_add_char(buffer, '-');
	start = point;
	if (whole < FIRST_BEYOND_U64)
		start = digits_before(point, (uint64_t)whole, 1);
	else
		buffer_printf(buffer, "%.0f", whole);
	if (decimals) {
		*point = '.';
		end = point + 1 + decimals;
		(void)digits_before(end, fraction, decimals);
		while (shortest && end > point + 2 && end[-1] == '0')
			end--;
	}
	buffer_add(buffer, start, (size_t)(end - start));
}

void buffer_add_real(struct buffer *buffer, double value, int decimals)
{
	add_real_digits(buffer, value, decimals, true);
}

void buffer_add_real_fixed(struct buffer *buffer, double value, int decimals)
{
	add_real_digits(buffer, value, decimals, false);
}
