/*
 * Writes lines for people to stderr, which is the job's terminal: few and short, and without secrets. If a frozen
 * terminal or a full pipe does not take a line at once, it is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Switches all messages off (--no-warnings). */
void message_enable(bool on);

/* The subcommand that a person typed stands in front of each line: "resource-tracker upload: ...". */
void message_name(const char *subcommand);

/* "resource-tracker: TEXT\n", redacted. */
void say_redacted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A text that must never be shown: the token, a key, a session token. Kept by pointer and forgotten by
 * forget_secret(). Texts of less than 4 bytes are not looked for.
 */
void add_secret(const char *secret);
void forget_secret(const char *secret);

/*
 * Appends foreign text in one line of at most `limit` bytes, with secrets and what follows "Bearer " replaced,
 * and control characters as blanks.
 */
void add_redacted(struct buffer *out, const char *text, size_t length, size_t limit);
