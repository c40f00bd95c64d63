/* The other programs of the house, and subcommands. */
#pragma once

#include <stdbool.h>

/* Whether argv[1] is a subcommand. */
bool is_subcommand(const char *name);

/* The subcommand that a mistyped word was meant for; NULL: it is like none. */
const char *subcommand_like(const char *word);

/*
 * Runs the subcommand argv[1]: `metrics` and `mark` here, the others by executing resource-tracker-net (upload, discover) or
 * resource-tracker-analysis. Returns the exit
 * status if it returns.
 */
int run_subcommand(char **argv);

/* `resource-tracker metrics ...`; argv[0] is "metrics". */
int run_metrics(char **argv);

/* Where a program of the house is: beside this one (a build tree) or in libexec. malloc'd, or NULL if it is nowhere. */
char *find_program(const char *name);
char *find_analysis_program(void);

/* If a program of a subcommand's name is on PATH, says how to wrap it. */
void say_how_to_wrap(const char *name);
