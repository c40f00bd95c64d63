/*
 * A streaming JSON writer over a buffer. It handles commas and nesting. The caller handles the schema.
 *
 * Text is escaped to valid UTF-8. Invalid bytes become U+FFFD, so a file name or process name can never break a
 * line. Nesting deeper than JSON_DEPTH marks the buffer failed.
 */
#pragma once

#include "base/buffer.h"

enum { JSON_DEPTH = 64 };

struct json_writer {
	struct buffer *out;
	uint64_t has_members; /* one bit per open level */
	int depth;
	bool after_key;
};

#define JSON_WRITER(buffer) ((struct json_writer){.out = (buffer)})

void json_open(struct json_writer *json, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *json, char bracket); /* '}' or ']' */
void json_key(struct json_writer *json, const char *key);
/* The same for a key that is known to need no escaping: a name of the catalogue. */
void json_plain_key(struct json_writer *json, const char *key);
void json_text(struct json_writer *json, const char *text); /* NULL is null */
void json_text_bytes(struct json_writer *json, const char *bytes, size_t length);
void json_count(struct json_writer *json, int64_t value);
void json_decimal(struct json_writer *json, double value, int decimals); /* NaN, infinity: null */
void json_flag(struct json_writer *json, bool value);
void json_absent(struct json_writer *json);
/* Already valid JSON, copied as it is. */
void json_raw(struct json_writer *json, const char *bytes, size_t length);

/* Appends `bytes` as a quoted JSON string without any writer state. */
void json_escape(struct buffer *out, const char *bytes, size_t length);
