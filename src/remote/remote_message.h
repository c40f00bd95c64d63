/*
 * The messages between a library and its recorder in another process (remote_client.c, helper_cli/remote_recorder.c): one
 * question, one answer, over a connected socket. Both ends come from the same build, which the first question checks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "resource_tracker.h"

#define REMOTE_WORD "record"

enum remote_question {
	/*
	 * first: RT_VERSION_NUMBER; payload: name, value, name, value, ..., each with its NUL. The answer has the version
	 * of the recorder, which refuses another one than its own.
	 */
	REMOTE_OPEN = 1,
	REMOTE_HISTORY_COUNT, /* answer: first, count (of bytes) */
	REMOTE_HISTORY_READ,  /* first, count, payload: layout and column. Answer: doubles */
	REMOTE_SAMPLE_COUNT,
	REMOTE_SAMPLE_JSON,    /* answer: text */
	REMOTE_EXPLAIN_ABSENT, /* answer: text */
	REMOTE_WARNING,        /* answer: text */
	REMOTE_OUTPUT_PATH,    /* first: index. Answer: text */
	REMOTE_VALUE, /* first: metric, count: instance, or payload: full name. Answer: remote_value_pack() */
	REMOTE_INSTANCES, /* first: metric */
	REMOTE_SNAPSHOT,  /* answer: metric/frame_pack.h */
	REMOTE_START,
	REMOTE_OVER, /* answer: 0 or 1, first: the reason */
	REMOTE_STOP, /* first: the reason, count: the status */
};

struct remote_message {
	int64_t what; /* a question: enum remote_question. Of an answer: the result or a negative errno */
	int64_t first;
	int64_t count;
	uint64_t payload_bytes; /* bytes that follow */
};

/*
 * Sends the whole message. Returns 0, -EPIPE if the other end has closed, -ETIMEDOUT, or another negative errno.
 */
int remote_send(int socket, const struct remote_message *message, const void *payload);
/* The payload replaces the buffer's contents. -EMSGSIZE: it does not fit. */
int remote_receive(int socket, struct remote_message *ret_message, struct buffer *ret_payload);

/* A value in first and count of a message. A text is its payload. */
void remote_value_pack(const struct rt_value *value, struct remote_message *ret_message);
/* The text is left out. */
struct rt_value remote_value_unpack(const struct remote_message *message);
