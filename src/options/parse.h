/*
 * The one reader of command lines.
 *
 *	--name VALUE  --name=VALUE  --switch  --switch=no  -n VALUE  -nVALUE  -sn VALUE
 *
 * Names are never abbreviated, so that a new option cannot change what an old script means. A word that looks like an
 * option is not taken for a value, because a forgotten value is more frequent: --name=-x gives such a value. "--" ends
 * the options.
 */
#pragma once

#include <stdbool.h>

#include "options/option.h"

enum { PARSE_MESSAGE_BYTES = 600, MOST_OPTION_ROWS = 96 };

struct parser {
	struct option_list options;
	/* Takes an option, or with NULL an operand. Returns NULL, or what is wrong: "is not a number"; or OUT_OF_MEMORY. */
	const char *(*take)(void *context, const struct option_row *row, const char *text);
	void *context;
	bool command_follows; /* the first operand is a command: options behind it are its own */
	bool checks_values; /* words of "a|b" and switches are checked here; a switch that is off is left out */
	bool separated;     /* "--" was there */
	bool seen[MOST_OPTION_ROWS];
	char message[PARSE_MESSAGE_BYTES];
};

extern const char OUT_OF_MEMORY[];

/*
 * Reads the words behind argv[0]. *ret_rest is the command, if one follows, or NULL. `text` of a switch is "1", and NULL of
 * an OPTIONAL without a value. Returns 0, or -1 with parser->message set.
 */
int parse_words(struct parser *parser, char **argv, char ***ret_rest);

/* Whether --help or -h stands among the words behind argv[0], before "--". */
bool asks_for_help(char **argv);
