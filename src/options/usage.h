/* How all programs speak of a subcommand's command line: its help, and a mistake on it. */
#pragma once

#include "base/buffer.h"
#include "options/option.h"

enum {
	EXIT_USAGE = 2
}; /* of every subcommand; the recorder's own is 125, because lower ones may be the job's */

/* Appends the help of a subcommand: a sentence, its usage, its options, notes and examples. */
void add_subcommand_help(struct buffer *out, const struct subcommand *subcommand, struct option_list options);

/*
 * Writes "resource-tracker NAME: MESSAGE (see resource-tracker NAME --help)" to standard error, and how to wrap a program
 * of that name if there is one. Returns EXIT_USAGE.
 */
int say_usage(const char *subcommand, const char *message);
