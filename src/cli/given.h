/*
 * The options that were given on the command line, in the environment and in the configuration file. Reading
 * and choosing are separate steps: everything found is added to this list first. Then, for each option, the
 * entries of its strongest origin count, and only those.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "options/options.h"

/* A greater value is a stronger origin. */
enum origin { ORIGIN_SITE = 1, ORIGIN_CONFIG, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND_LINE };

struct given {
	const struct option_row *row;
	enum origin origin;
	char *text;    /* the value; "1" for a switch without one, NULL for an optional argument left out */
	unsigned line; /* in the configuration file */
};

struct given_list {
	struct given *items; /* in the order found */
	size_t count;
	bool is_short; /* memory was refused: options are missing */
};

/* Adds a copy of `text`, which may be NULL. Returns 0 or -ENOMEM. */
int given_add(struct given_list *list, const struct option_row *row, enum origin origin, const char *text,
	      unsigned line);
void given_done(struct given_list *list);

/* Returns the last entry for an option from its strongest origin, or NULL. */
const struct given *given_for(const struct given_list *list, const struct option_row *row);

/* The same by the option's long name. */
const struct given *given_by_name(const struct given_list *list, const char *name);

/* Whether `item` counts: its option has no entry from a stronger origin. */
bool given_counts(const struct given_list *list, const struct given *item);

static inline bool given_is_output(const struct given *item)
{
	return strcmp(item->row->name, "output") == 0;
}

/*
 * Reads the TRACKER_ variables. An empty one counts as unset; newlines separate the elements of a list.
 * Returns 0 or -ENOMEM.
 */
int read_environment(struct given_list *list);
