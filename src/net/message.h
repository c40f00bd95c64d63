/*
 * Lines for people on stderr, which is the job's terminal: few, short, never with a secret in them. A line is
 * dropped when a frozen terminal or a full pipe does not take it at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Off: nothing more is said (--no-warnings). */
void message_enable(bool on);

/* "resource-tracker: TEXT\n", redacted. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A text that must never be shown: the token, a key, a session token. Kept by pointer and forgotten by
 * forget_secret(); texts of less than 4 bytes are not looked for.
 */
void add_secret(const char *secret);
void forget_secret(const char *secret);

/*
 * Appends foreign text in one line of at most `limit` bytes, with secrets and what follows "Bearer " replaced,
 * and control characters as blanks.
 */
void add_redacted(struct buffer *out, const char *text, size_t length, size_t limit);
