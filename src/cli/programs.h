/* Runs subcommands, in this process or by executing a sister program. */
#pragma once

#include <stdbool.h>

/* Whether argv[1] is a subcommand. */
bool is_subcommand(const char *name);

/* Returns the subcommand closest to a mistyped word; NULL: none is close. */
const char *subcommand_like(const char *word);

/*
 * Runs the subcommand argv[1]: `metrics` and `mark` in this process, the others by executing
 * resource-tracker-net (upload, discover) or resource-tracker-analysis. If it returns, its result is the exit
 * status.
 */
int run_subcommand(char **argv);

/* `resource-tracker metrics ...`; argv[0] is "metrics". */
int run_metrics(char **argv);

/* If a program on PATH has a subcommand's name, tells the user how to wrap it. */
void say_how_to_wrap(const char *name);
