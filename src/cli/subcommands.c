/* Reads the command lines of the recorder's own subcommands; see subcommands.h. */
#include "cli/subcommands.h"

#include <string.h>

#include "base/cleanup.h"
#include "cli/help.h"
#include "cli/message.h"
#include "options/rows.h"
#include "options/usage.h"

enum { HELP_BYTES = 64 << 10 };

static const struct subcommand OWN[] = {
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/cli_subcommands.def"
};

static const struct option_row ROWS[] = {
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(OPTION_##id##_##key, __VA_ARGS__)
#include "options/cli_subcommands.def"
	LAST_ROW,
};

static int print_subcommand_help(const struct subcommand *subcommand, struct option_list options)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);

	add_subcommand_help(&text, subcommand, options);
	return print_text(&text);
}

bool read_subcommand(char **argv, const char *(*take)(void *, const struct option_row *, const char *),
		     void *context, int *ret_status)
{
	struct parser parser = {
		.options = options_of(ROWS, argv[0]),
		.take = take,
		.context = context,
		.checks_values = true,
	};

	if (asks_for_help(argv)) {
		for (size_t i = 0; i < ARRAY_SIZE(OWN); i++)
			if (strcmp(argv[0], OWN[i].name) == 0)
				*ret_status = print_subcommand_help(&OWN[i], parser.options);
		return false;
	}
	if (parse_words(&parser, argv, NULL) == 0)
		return true;
	*ret_status = say_usage(argv[0], parser.message);
	return false;
}
