/*
 * What was given for the options, and where: on the command line, in the environment, in the configuration
 * file. Reading and choosing are apart: everything found is noted here first, and then for each option what
 * its strongest origin says counts, alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

/* The stronger, the greater. */
enum origin { ORIGIN_CONFIG = 1, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND_LINE };

struct given {
	const struct option_row *row;
	enum origin origin;
	char *text;    /* the value; "1" for a switch without one, NULL for an optional argument left out */
	unsigned line; /* in the configuration file */
};

struct given_list {
	struct given *items; /* in the order found */
	size_t count;
};

/* Notes a copy of `text` (NULL is allowed). Returns 0 or -ENOMEM. */
int given_add(struct given_list *list, const struct option_row *row, enum origin origin, const char *text,
	      unsigned line);
void given_done(struct given_list *list);

/* The last thing given for an option by its strongest origin; NULL if nothing was. */
const struct given *given_for(const struct given_list *list, const struct option_row *row);

/* The same by the option's long name. */
const struct given *given_by_name(const struct given_list *list, const char *name);

/* Whether `item` counts: no stronger origin says something about its option. */
bool given_counts(const struct given_list *list, const struct given *item);

/*
 * Reads the options before COMMAND. *ret_command is COMMAND and its arguments as they are in argv, or NULL.
 * *ret_separated: "--" was there. Returns 0, or -1 after having said what is wrong.
 */
int read_arguments(char **argv, struct given_list *list, char ***ret_command, bool *ret_separated);

/* Reads the TRACKER_ variables; an empty one is unset, lists are separated by newlines. 0 or -ENOMEM. */
int read_environment(struct given_list *list);
