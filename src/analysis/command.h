/*
 * A subcommand is one file cmd_NAME.c with one `const struct command NAME_COMMAND`, and its line in analysis_main.c.
 *
 * Exit status: 0 success, 1 an error of the input or output, 2 an error of the command line.
 */
#pragma once

#include <stddef.h>

#include "base/long_options.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

struct command {
	const char *name;
	const char *synopsis; /* "summary [OPTIONS] FILE..." */
	const char *purpose;  /* one line */
	const char *options;  /* the option lines of --help */
	int (*run)(const struct command *command, int argc,
		   char **argv); /* argv[0] is the subcommand's name */
};

/*
 * Runs a command. It removes --force from `argv`, since all commands with an --output accept it. `argv` must
 * stay valid: the command never overwrites a file that its words name as input.
 */
int command_run(const struct command *command, int argc, char **argv);

/*
 * Checks whether the command may write to `path`. Returns 0, or EXIT_FAULT after it has printed the reason.
 */
int command_check_output(const struct command *command, const char *path);

/* Writes all bytes to `path`, or to standard output if `path` is "-" or NULL. Returns 0 or EXIT_FAULT. */
int command_write(const struct command *command, const char *path, const char *bytes, size_t length);

/* Prints "resource-tracker NAME: TEXT" on standard error; returns EXIT_FAULT. */
int command_fault(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints the same with a pointer to --help. If a program has the subcommand's name, the message also says how
 * to wrap it. Returns EXIT_USAGE.
 */
int command_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Reports an option for which next_option() has just answered '?'. `short_options` and `options` are the
 * arguments of that call. Returns EXIT_USAGE.
 */
int command_bad_option(const struct command *command, char *const *argv, const char *short_options,
		       const struct option *options);

/* Prints the help of a command; returns 0. */
int command_help(const struct command *command);
