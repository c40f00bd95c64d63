/*
 * What the command says to people: whole lines on stderr, each with the program's name before it.
 *
 * Control characters in a line become '?', so that a file name cannot draw on the terminal.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

enum exit_status {
	EXIT_OWN_ERROR = 125,      /* ours, before the job was started */
	EXIT_NOT_EXECUTABLE = 126, /* the job cannot be executed */
	EXIT_NOT_FOUND = 127,      /* there is no such command */
};

/* One line before the job has been started, or after it has ended. A full pipe is waited for, but not long. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line while a job may be running: dropped if stderr cannot take it at once. */
void say_if_possible(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether stderr takes anything, waiting as say() does. */
bool can_say(void);

/* say(), and EXIT_OWN_ERROR for the caller to return. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All of it to stdout. Returns 0, or what refuse() does when it could not be written. */
int print_text(const struct buffer *text);
