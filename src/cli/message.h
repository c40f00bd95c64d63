/*
 * The command's messages to people: whole lines on stderr, each with the program's name in front.
 *
 * Control characters become '?', so that a file name cannot control the terminal.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

enum exit_status {
	EXIT_OWN_ERROR = 125,      /* our own error, before the job was started */
	EXIT_NOT_EXECUTABLE = 126, /* the job cannot be executed */
	EXIT_NOT_FOUND = 127,      /* the command does not exist */
};

/* Writes a line before the job is started or after it has ended. Waits for a full pipe, but not long. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a subcommand: "resource-tracker mark: ...". */
void say_of(const char *subcommand, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same without the program's name. */
void say_plainly(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a line while a job may be running. Drops it if stderr is not ready at once. */
void say_if_possible(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether stderr takes a line, after waiting as say() does. */
bool can_say(void);

/* The lines of refuse() name the step of an engine, which then runs without a recording. */
void refuse_step(void);

/* Calls say() and returns EXIT_OWN_ERROR for the caller to return. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the whole text to stdout. Returns 0, or refuse()'s result if writing failed. */
int print_text(const struct buffer *text);
