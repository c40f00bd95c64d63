/*
 * A subcommand is one file cmd_ID.c with run_ID(), and its rows in options/analysis_subcommands.def.
 *
 * Exit status: 0 success, 1 an error of the input or output, 2 (EXIT_USAGE) an error of the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/words.h"
#include "options/option.h"
#include "options/usage.h"

enum { EXIT_FAULT = 1 };

enum analysis_option {
#define OPTION(id, key, ...) OPTION_##id##_##key,
#include "options/analysis_subcommands.def"
};

/* argv[0] is the subcommand's name. Each returns the exit status. */
#define SUBCOMMAND(id, ...) int run_##id(const struct subcommand *command, char **argv);
#include "options/analysis_subcommands.def"

/* Runs the subcommand argv[0], or prints its help. -1: there is no such subcommand. */
int command_run(char **argv);

/*
 * Reads the words behind argv[0]: `set` takes each option and returns false if it cannot have that value, the operands
 * come into *ret_files, a run of the history as the path of its recording (find_run.h). The command never writes to a
 * file that `argv` names as input. Returns 0, or after it has said what is wrong EXIT_USAGE, or EXIT_FAULT for a run that
 * does not exist. --color and --no-pager are kept for the functions below.
 */
int command_read(const struct subcommand *command, char **argv,
		 bool (*set)(void *context, int option, const char *value), void *context,
		 struct text_list *ret_files);

/* The same, but takes the operands as they are: they do not name recordings. */
int command_read_words(const struct subcommand *command, char **argv,
		       bool (*set)(void *context, int option, const char *value), void *context,
		       struct text_list *ret_words);

/* Lists the subcommands, a line each. */
void command_list(struct buffer *out);

/*
 * Checks whether the command may write to `path`. Returns 0, or EXIT_FAULT after it has printed the reason.
 */
int command_check_output(const struct subcommand *command, const char *path);

/* The same for an HTML page, which without --force replaces pages and empty files only. */
int command_check_page(const struct subcommand *command, const char *path);

/* Writes all bytes to `path`, or to standard output if `path` is "-" or NULL. Returns 0 or EXIT_FAULT. */
int command_write(const struct subcommand *command, const char *path, const char *bytes, size_t length);

/* The same for a text of a function NAME_for_screen(): its colours are meant, and it has no other control characters. */
int command_write_fitted(const struct subcommand *command, const char *path, const char *text);

/* For these functions: the descriptor behind `path` if it may be a terminal, and the word behind --color. */
int command_screen(const char *path);
const char *command_colour(void);

/* Prints "resource-tracker NAME: TEXT" on standard error; returns EXIT_FAULT. */
int command_fault(const struct subcommand *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints the same with a pointer to --help. If a program has the subcommand's name, the message also says how
 * to wrap it. Returns EXIT_USAGE.
 */
int command_usage(const struct subcommand *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
