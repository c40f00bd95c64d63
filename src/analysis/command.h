/*
 * A subcommand: one cmd_NAME.c with one `const struct command NAME_COMMAND`, and its line in main.c.
 *
 * Exit status: 0 done, 1 the input or the output was at fault, 2 the command line was.
 */
#pragma once

#include <stddef.h>

#include "base/long_options.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

struct command {
	const char *name;
	const char *synopsis; /* "summary [OPTIONS] FILE..." */
	const char *purpose;  /* one line */
	const char *options;  /* the lines of --help that explain them */
	int (*run)(const struct command *command, int argc, char **argv); /* argv[0] is the name */
};

/*
 * Runs a command. `argv` loses --force, which all commands with an --output know, and stays in use: its words are the
 * files that may be read, none of which is written to.
 */
int command_run(const struct command *command, int argc, char **argv);

/* Whether the command may write there: 0, or EXIT_FAULT once the reason is said. */
int command_check_output(const struct command *command, const char *path);

/* Writes all of it to standard output, or to `path` ("-" and NULL: standard output). 0 or EXIT_FAULT. */
int command_write(const struct command *command, const char *path, const char *bytes, size_t length);

/* "resource-tracker NAME: TEXT" on standard error; returns EXIT_FAULT. */
int command_fault(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The same with a pointer to --help, and how to wrap a program of the subcommand's name if there is one; returns
 * EXIT_USAGE.
 */
int command_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What next_option() has just answered with '?', in the same way; `short_options` and `options` are what it was given. */
int command_bad_option(const struct command *command, char *const *argv, const char *short_options,
		       const struct option *options);

/* Prints the help of a command; returns 0. */
int command_help(const struct command *command);
