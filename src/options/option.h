/* Options as rows of tables (*.def): for the parser, the help, the man pages and the completions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum option_owner { OWNER_SETTING, OWNER_FRONT, OWNER_SUBCOMMAND };
/* In groups: without a value, with one that may be left out, with one, with several. */
enum option_kind {
	KIND_SWITCH,
	KIND_WORD, /* a switch that stands for its own name as the value of another option */
	KIND_OPTIONAL,
	KIND_VALUE,
	KIND_OPEN, /* the words of "a|b" are the usual ones, and the subcommand checks others */
	KIND_NUMBER,
	KIND_POSITIVE,
	KIND_LIST,
	KIND_PARTS, /* separated by commas */
	KIND_STEP,  /* its order among the others of this kind counts */
};
enum option_mode { MODE_WRAP = 1, MODE_ATTACH = 2, MODE_HOST = 4, MODE_ANY = 7 };

struct option_row {
	const char *
		heading; /* of a group that starts here, or the name of a subcommand; all else is then empty */
	const char *name; /* the long option without dashes */
	char letter;      /* the short option, or 0 */
	enum option_owner owner;
	enum option_kind kind;
	const char *argument;     /* "" for a switch */
	const char *default_text; /* "" for none */
	unsigned modes;           /* of enum option_mode */
	const char *toml_key;     /* "table.key", or "" */
	const char *help;
	int id; /* of a subcommand's option: OPTION_SUBCOMMAND_KEY, or in the analysis the offset of its field */
#ifdef WITH_MANUAL
	const char *more; /* for the man page */
#endif
};

struct option_list {
	const struct option_row *rows; /* a row with a heading is not an option */
	size_t count;
};

struct subcommand {
	const char *name;
	const char *arguments;
	const char *help; /* for the list of all subcommands */
	const char *purpose;
	const char *notes;
	const char *example;
};

static inline bool option_is_switch(const struct option_row *row)
{
	return row->kind <= KIND_WORD;
}

static inline bool option_is_repeatable(const struct option_row *row)
{
	return row->kind >= KIND_LIST;
}

/* Exactly this option and no abbreviation; NULL if there is none. `length` bytes of the name count. */
const struct option_row *find_option(struct option_list list, const char *name, size_t length);
const struct option_row *find_letter(struct option_list list, char letter);

/* The option that a mistyped name was meant for; NULL if none is near. */
const struct option_row *nearest_option(struct option_list list, const char *name);

/* The options of a subcommand in a table of several, whose last row has neither heading nor name. */
struct option_list options_of(const struct option_row *rows, const char *subcommand);

/* The subcommand of that name; NULL if there is none. The list ends with a name that is NULL. */
const struct subcommand *find_subcommand(const struct subcommand *list, const char *name);
