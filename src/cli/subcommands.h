/* The subcommands that the recorder does itself, by its own table (options/cli_subcommands.def). */
#pragma once

#include <stdbool.h>

#include "options/option.h"
#include "options/parse.h"

enum cli_option {
#define OPTION(id, key, ...) OPTION_##id##_##key,
#include "options/cli_subcommands.def"
};

/* argv[0] is the name. Each returns the exit status. */
#define SUBCOMMAND(id, ...) int run_##id(char **argv);
#include "options/cli_subcommands.def"

/*
 * Reads the words behind argv[0] by its options; `take` as of struct parser. Returns false if there is nothing left to do:
 * its help was printed, or a mistake was said, and *ret_status is the exit status.
 */
bool read_subcommand(char **argv, const char *(*take)(void *, const struct option_row *, const char *),
		     void *context, int *ret_status);
