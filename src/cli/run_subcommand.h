/* Runs subcommands, in this process or by executing a sister program. */
#pragma once

#include <stdbool.h>

/* Whether argv[1] is a subcommand. */
bool is_subcommand(const char *name);

/* Returns the subcommand closest to a mistyped word; NULL: none is close. */
const char *subcommand_like(const char *word);

/* Whether the program that has this subcommand is installed. */
bool has_program_of(const char *subcommand);

/*
 * Runs the subcommand argv[1]: those of cli_subcommands.def in this process, the others by executing
 * resource-tracker-net (upload, discover) or resource-tracker-analysis. If it returns, its result is the exit
 * status.
 */
int run_subcommand(char **argv);

/*
 * Finds a sister program beside this one (build tree) or in libexec. Returns its path, which the caller
 * frees, or NULL.
 */
char *find_program(const char *name);
char *find_analysis_program(void);
