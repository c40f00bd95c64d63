/* A streaming JSON writer. See json_write.h. */
#include "base/json_write.h"
#include "base/printable.h"
#include "base/runs_once.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void add_json_separator(struct json_writer *json)
{
	uint64_t level = UINT64_C(1) << (json->depth & 63);

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->has_members & level)
		buffer_add_char(json->out, ',');
	json->has_members |= level;
}

SELDOM void json_open(struct json_writer *json, char bracket)
{
	add_json_separator(json);
	buffer_add_char(json->out, bracket);
	if (++json->depth >= JSON_DEPTH) {
		json->out->error = -ENOBUFS;
		json->depth = JSON_DEPTH - 1;
	}
	json->has_members &= ~(UINT64_C(1) << (json->depth & 63));
}

void json_close(struct json_writer *json, char bracket)
{
	if (json->depth > 0)
		json->depth--;
	buffer_add_char(json->out, bracket);
}

SELDOM void json_key(struct json_writer *json, const char *key)
{
	add_json_separator(json);
	json_escape(json->out, key, strlen(key));
	buffer_add_char(json->out, ':');
	json->after_key = true;
}

void json_plain_key(struct json_writer *json, const char *key)
{
	size_t length = strlen(key);
	char *at;

	add_json_separator(json);
	at = buffer_extend(json->out, length + 3);
	json->after_key = true;
	if (!at)
		return;
	*at++ = '"';
	memcpy(at, key, length + 1);
	at += length;
	*at++ = '"';
	*at = ':';
}

/* Length of the valid UTF-8 sequence at the front, or 0. Rejects overlong forms, surrogates, > U+10FFFF. */
SELDOM static size_t utf8_sequence(const unsigned char *at, size_t left)
{
	unsigned char first = at[0], low = 0x80, high = 0xbf;
	size_t length;

	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		length = 2;
	else if (first >= 0xe0 && first <= 0xef)
		length = 3;
	else if (first >= 0xf0 && first <= 0xf4)
		length = 4;
	else
		return 0;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	if (left < length || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

SELDOM static void escape_one(struct buffer *out, unsigned char c)
{
	static const char SHORT[] = "btn\0fr";

	if (c == '"' || c == '\\') {
		buffer_add_char(out, '\\');
		buffer_add_char(out, (char)c);
	} else if (c >= '\b' && c <= '\r' && SHORT[c - '\b']) {
		buffer_add_char(out, '\\');
		buffer_add_char(out, SHORT[c - '\b']);
	} else {
		buffer_printf(out, "\\u%04x", c);
	}
}

/* ASCII that stands for itself. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

SELDOM void json_escape(struct buffer *out, const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + length, *plain = at;

	buffer_add_char(out, '"');
	while (at < end) {
		size_t sequence;

		if (is_plain(*at)) {
			at++;
			continue;
		}
		sequence = utf8_sequence(at, (size_t)(end - at));
		if (sequence > 1 && !is_obeyed_by_terminals(at, sequence)) {
			at += sequence;
			continue;
		}
		buffer_add(out, plain, (size_t)(at - plain));
		if (sequence > 1) {
			/* Two and three bytes: eleven and sixteen bits. */
			buffer_printf(out, "\\u%04x",
				      sequence == 2
					      ? (at[0] & 0x1f) << 6 | (at[1] & 0x3f)
					      : (at[0] & 0x0f) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f));
			at += sequence - 1;
		} else if (sequence)
			escape_one(out, *at);
		else
			buffer_add_text(out, "\\ufffd");
		plain = ++at;
	}
	buffer_add(out, plain, (size_t)(at - plain));
	buffer_add_char(out, '"');
}

SELDOM void json_text_bytes(struct json_writer *json, const char *bytes, size_t length)
{
	add_json_separator(json);
	json_escape(json->out, bytes, length);
}

SELDOM void json_text(struct json_writer *json, const char *text)
{
	if (text)
		json_text_bytes(json, text, strlen(text));
	else
		json_absent(json);
}

void json_count(struct json_writer *json, int64_t value)
{
	add_json_separator(json);
	buffer_add_i64(json->out, value);
}

void json_decimal(struct json_writer *json, double value, int decimals)
{
	add_json_separator(json);
	buffer_add_real(json->out, value, decimals);
}

SELDOM void json_flag(struct json_writer *json, bool value)
{
	json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void json_absent(struct json_writer *json)
{
	json_raw(json, "null", 4);
}

void json_raw(struct json_writer *json, const char *bytes, size_t length)
{
	add_json_separator(json);
	buffer_add(json->out, bytes, length);
}
