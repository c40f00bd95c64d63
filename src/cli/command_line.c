/*
 * The command line up to COMMAND.
 *
 *	resource-tracker -i 0.5 --output=run.jsonl -- make -j2
 *
 * Options stop at the first operand, which is COMMAND, or at "--"; see options/parse.h for the rules.
 */
#include "cli/command_line.h"

#include "cli/given.h"
#include "cli/message.h"
#include "options/parse.h"

static const char *take_option(void *context, const struct option_row *row, const char *text)
{
	struct given_list *list = context;

	/* The command is found nevertheless, so that it can run. */
	list->is_short |= given_add(list, row, ORIGIN_COMMAND_LINE, text, 0) < 0;
	return NULL;
}

int read_arguments(char **argv, struct given_list *list, char ***ret_command, bool *ret_separated)
{
	struct parser parser = {
		.options = recorder_options(),
		.take = take_option,
		.context = list,
		.command_follows = true,
	};

	if (parse_words(&parser, argv, ret_command) < 0) {
		say("%s (see resource-tracker --help)", parser.message);
		return -1;
	}
	*ret_separated = parser.separated;
	return 0;
}
