/*
 * The options as rows of one table (settings.def), for the parser, --help, the man page and the completions.
 */
#pragma once

#include <stdbool.h>

#include "options/option.h"

/* Ends with a row whose heading and name are NULL. */
extern const struct option_row OPTIONS[];
extern const size_t OPTION_COUNT; /* without the last row */

/* All options, for find_option() and its like. */
struct option_list recorder_options(void);

/* Finds the option with exactly this name (`length` bytes); abbreviations do not count. NULL: none. */
const struct option_row *option_by_name(const char *name, size_t length);
const struct option_row *option_by_toml_key(const char *toml_key);

/* Whether the option has an environment variable. */
bool option_has_variable(const struct option_row *row);
/* Whether the environment has a variable that might be one of an option. */
bool option_has_any_variable(char *const *environment);
void option_variable(const struct option_row *row, char *ret_name, size_t size);

/* Returns the key ("table.key") that is closest to a mistyped one, with or without its table; NULL: none is close. */
const char *option_nearest_toml_key(const char *key);
