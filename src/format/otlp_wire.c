/* Writes and reads protocol buffers. See otlp_wire.h. */
#include "format/otlp_wire.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

enum { VARINT_MOST = 10, MOST_TEXT_BYTES = 64 << 10, KEY_FIELD = 1, VALUE_FIELD = 2 };
enum { VALUE_TEXT = 1, VALUE_FLAG = 2, VALUE_COUNT = 3, VALUE_REAL = 4 };

/* ---- writing ---------------------------------------------------------------------------------------------- */

static size_t make_varint(uint64_t value, unsigned char ret_bytes[VARINT_MOST])
{
	size_t length = 0;

	do {
		ret_bytes[length++] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
		value >>= 7;
	} while (value);
	return length;
}

static void add_varint(struct buffer *out, uint64_t value)
{
	unsigned char bytes[VARINT_MOST];

	buffer_add(out, bytes, make_varint(value, bytes));
}

static void add_field_tag(struct buffer *out, unsigned field, enum otlp_wire wire)
{
	add_varint(out, (uint64_t)field << 3 | wire);
}

size_t otlp_open(struct buffer *out, unsigned field)
{
	add_field_tag(out, field, WIRE_BYTES);
	return out->length;
}

void otlp_close(struct buffer *out, size_t start)
{
	unsigned char bytes[VARINT_MOST];
	size_t content, length;

	if (buffer_error(out))
		return;
	content = out->length - start;
	length = make_varint(content, bytes);
	/* Appended once for the ceiling and the NUL, then moved into its place. */
	buffer_add(out, bytes, length);
	if (buffer_error(out))
		return;
	memmove(out->data + start + length, out->data + start, content);
	memcpy(out->data + start, bytes, length);
}

void otlp_add_bytes(struct buffer *out, unsigned field, const char *bytes, size_t length)
{
	add_field_tag(out, field, WIRE_BYTES);
	add_varint(out, length);
	buffer_add(out, bytes, length);
}

/* Returns the length of the UTF-8 sequence at `at`, or 0. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
	size_t length = at[0] < 0x80                    ? 1
			: at[0] >= 0xc2 && at[0] < 0xe0 ? 2
			: (at[0] & 0xf0) == 0xe0        ? 3
			: at[0] >= 0xf0 && at[0] < 0xf5 ? 4
							: 0;

	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is past U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

void otlp_add_text(struct buffer *out, unsigned field, const char *text)
{
	size_t length = strnlen(text, MOST_TEXT_BYTES), start;

	add_field_tag(out, field, WIRE_BYTES);
	add_varint(out, length);
	start = out->length;
	buffer_add(out, text, length);
	if (buffer_error(out))
		return;
	for (size_t at = 0; at < length;) {
		size_t step = utf8_length((const unsigned char *)out->data + start + at, length - at);

		if (!step)
			out->data[start + at] = '?';
		at += step ? step : 1;
	}
}

void otlp_add_count(struct buffer *out, unsigned field, uint64_t value)
{
	add_field_tag(out, field, WIRE_VARINT);
	add_varint(out, value);
}

void otlp_add_fixed64(struct buffer *out, unsigned field, uint64_t value)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	add_field_tag(out, field, WIRE_FIXED64);
	buffer_add(out, bytes, sizeof bytes);
}

void otlp_add_real(struct buffer *out, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	otlp_add_fixed64(out, field, bits);
}

static size_t open_attribute(struct buffer *out, unsigned field, const char *key, size_t *ret_value)
{
	size_t pair = otlp_open(out, field);

	otlp_add_text(out, KEY_FIELD, key);
	*ret_value = otlp_open(out, VALUE_FIELD);
	return pair;
}

static void close_attribute(struct buffer *out, size_t pair, size_t value)
{
	otlp_close(out, value);
	otlp_close(out, pair);
}

void otlp_add_text_attribute(struct buffer *out, unsigned field, const char *key, const char *value)
{
	size_t any, pair = open_attribute(out, field, key, &any);

	otlp_add_text(out, VALUE_TEXT, value);
	close_attribute(out, pair, any);
}

void otlp_add_count_attribute(struct buffer *out, unsigned field, const char *key, int64_t value)
{
	size_t any, pair = open_attribute(out, field, key, &any);

	otlp_add_count(out, VALUE_COUNT, (uint64_t)value);
	close_attribute(out, pair, any);
}

void otlp_add_real_attribute(struct buffer *out, unsigned field, const char *key, double value)
{
	size_t any, pair = open_attribute(out, field, key, &any);

	otlp_add_real(out, VALUE_REAL, value);
	close_attribute(out, pair, any);
}

void otlp_add_flag_attribute(struct buffer *out, unsigned field, const char *key, bool value)
{
	size_t any, pair = open_attribute(out, field, key, &any);

	otlp_add_count(out, VALUE_FLAG, value);
	close_attribute(out, pair, any);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static bool take_varint(struct scan *scan, uint64_t *ret_value)
{
	const char *at = scan->at;
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MOST && at < scan->end; i++) {
		unsigned char byte = (unsigned char)*at++;

		if (i == VARINT_MOST - 1 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 127) << 7 * i;
		if (byte < 128) {
			scan->at = at;
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct scan *scan, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (scan_left(scan) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)(unsigned char)scan->at[i] << 8 * i;
	scan->at += size;
	*ret_value = value;
	return true;
}

static bool take_content(struct scan *scan, struct otlp_field *field)
{
	uint64_t length;

	switch (field->wire) {
	case WIRE_VARINT:
		return take_varint(scan, &field->value);
	case WIRE_FIXED64:
		return take_fixed(scan, 8, &field->value);
	case WIRE_FIXED32:
		return take_fixed(scan, 4, &field->value);
	case WIRE_BYTES:
		if (!take_varint(scan, &length) || length > scan_left(scan))
			return false;
		field->bytes = scan_bytes(scan->at, (size_t)length);
		scan->at += length;
		return true;
	}
	return false;
}

int otlp_next_field(struct scan *message, struct otlp_field *ret_field)
{
	struct otlp_field field = {0};
	struct scan scan = *message;
	uint64_t tag;

	if (!scan_left(message))
		return 0;
	if (!take_varint(&scan, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return -EBADMSG;
	field.number = (unsigned)(tag >> 3);
	field.wire = (enum otlp_wire)(tag & 7);
	if (!take_content(&scan, &field))
		return -EBADMSG;
	*message = scan;
	*ret_field = field;
	return 1;
}

/* The way from a request to its points: resource_metrics, scope_metrics, metrics, gauge (5) or sum (7), data_points. */
static bool leads_to_points(size_t depth, const struct otlp_field *field)
{
	static const unsigned WAY[] = {1, 2, 2, 7, 1};

	return field->wire == WIRE_BYTES &&
	       (field->number == WAY[depth] || (depth == 3 && field->number == 5));
}

int64_t otlp_count_points(const void *bytes, size_t length)
{
	enum { DEPTH = 5 };
	struct scan open[DEPTH] = {scan_bytes(bytes, length)};
	struct otlp_field field;
	int64_t points = 0;
	size_t depth = 0;

	for (;;) {
		int r = otlp_next_field(&open[depth], &field);

		if (r < 0)
			return r;
		if (r == 0 && depth == 0)
			return points;
		if (r == 0)
			depth--;
		else if (leads_to_points(depth, &field) && depth + 1 == DEPTH)
			points++;
		else if (leads_to_points(depth, &field))
			open[++depth] = field.bytes;
	}
}

int otlp_parse_answer(const void *bytes, size_t length, int64_t *ret_rejected, struct scan *ret_message)
{
	struct scan answer = scan_bytes(bytes, length), partial = {NULL, NULL}, text = {NULL, NULL};
	struct otlp_field field;
	int64_t rejected = 0;
	int r;

	while ((r = otlp_next_field(&answer, &field)) > 0)
		if (field.number == 1 && field.wire == WIRE_BYTES)
			partial = field.bytes;
	while (r == 0 && (r = otlp_next_field(&partial, &field)) > 0) {
		if (field.number == 1 && field.wire == WIRE_VARINT)
			rejected = (int64_t)field.value;
		else if (field.number == 2 && field.wire == WIRE_BYTES)
			text = field.bytes;
		r = 0;
	}
	if (r < 0)
		return r;
	*ret_rejected = rejected;
	*ret_message = text;
	return 0;
}
