/*
 * Protocol buffers as far as OTLP needs them: a writer into a buffer and a reader of fields.
 *
 * A message is written in one pass. otlp_open() leaves no room for the length. otlp_close() moves the message by as
 * many bytes as the length needs, so every length has its shortest form.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/scan.h"

enum otlp_wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Begins a nested message and returns where its bytes start. */
size_t otlp_open(struct buffer *out, unsigned field);
void otlp_close(struct buffer *out, size_t start);

void otlp_add_bytes(struct buffer *out, unsigned field, const char *bytes, size_t length);
void otlp_add_text(struct buffer *out, unsigned field, const char *text);
void otlp_add_count(struct buffer *out, unsigned field, uint64_t value);
void otlp_add_fixed64(struct buffer *out, unsigned field, uint64_t value);
void otlp_add_real(struct buffer *out, unsigned field, double value);

/* A KeyValue with a value of each type. Invalid UTF-8 becomes '?', because receivers refuse the whole request. */
void otlp_add_text_attribute(struct buffer *out, unsigned field, const char *key, const char *value);
void otlp_add_count_attribute(struct buffer *out, unsigned field, const char *key, int64_t value);
void otlp_add_real_attribute(struct buffer *out, unsigned field, const char *key, double value);
void otlp_add_flag_attribute(struct buffer *out, unsigned field, const char *key, bool value);

struct otlp_field {
	unsigned number;
	enum otlp_wire wire;
	uint64_t value;    /* of WIRE_VARINT, WIRE_FIXED64 and WIRE_FIXED32 */
	struct scan bytes; /* of WIRE_BYTES */
};

/* Steps over one field of a message. Returns 1, 0 at its end, or -EBADMSG without moving. */
int otlp_next_field(struct scan *message, struct otlp_field *ret_field);

/* The data points of a metrics request. -EBADMSG: it is damaged. */
int64_t otlp_count_points(const void *bytes, size_t length);

/*
 * The partial success in the answer to a request: how many points the receiver has dropped, and why. Returns 0 (none: 0
 * and an empty text) or -EBADMSG.
 */
int otlp_parse_answer(const void *bytes, size_t length, int64_t *ret_rejected, struct scan *ret_message);
