/*
 * The options as rows of one table (settings.def), for the parser, --help, the man page and the completions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum option_owner { OWNER_SETTING, OWNER_FRONT };
enum option_kind { KIND_SWITCH, KIND_VALUE, KIND_LIST, KIND_OPTIONAL };
enum option_mode { MODE_WRAP = 1, MODE_ATTACH = 2, MODE_HOST = 4, MODE_ANY = 7 };

struct option_row {
	const char *heading; /* of the group that starts here; the other members are then empty */
	const char *name;    /* the long option without dashes */
	char letter;         /* the short option, or 0 */
	enum option_owner owner;
	enum option_kind kind;
	const char *argument;     /* "" for a switch */
	const char *default_text; /* "" for none */
	unsigned modes;           /* of enum option_mode */
	const char *toml_key;     /* "table.key", or "" */
	const char *help;
	const char *more; /* "" without WITH_MANUAL */
};

/* Ends with a row whose heading and name are NULL. */
extern const struct option_row OPTIONS[];
extern const size_t OPTION_COUNT; /* without the last row */

/* Finds the option with exactly this name (`length` bytes); abbreviations do not count. NULL: none. */
const struct option_row *option_by_name(const char *name, size_t length);
const struct option_row *option_by_letter(char letter);
const struct option_row *option_by_toml_key(const char *toml_key);

/* Whether the option has an environment variable. */
bool option_has_variable(const struct option_row *row);
void option_variable(const struct option_row *row, char *ret_name, size_t size);

/* Returns the option whose name is closest to a mistyped one; NULL: none is close. */
const struct option_row *option_nearest(const char *name);

/* The same for a key of the configuration file, with or without its table. Returns "table.key" or NULL. */
const char *option_nearest_toml_key(const char *key);
