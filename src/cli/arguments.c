/*
 * The command line up to COMMAND.
 *
 * 	resource-tracker -i 0.5 --output=run.jsonl -- make -j2
 *
 * Options end at the first argument that is not an option, or at "--". Names are never abbreviated, so that a
 * new option cannot change the meaning of an old script. The value of a short option may follow directly
 * (-i5).
 */
#include <errno.h>
#include <string.h>

#include "cli/given.h"
#include "cli/message.h"

struct arguments {
	char **at; /* the next argument */
	struct given_list *list;
};

static int fail(int printed)
{
	(void)printed;
	return -1;
}

static int note(struct arguments *arguments, const struct option_row *row, const char *text)
{
	bool once = row->kind == KIND_VALUE;

	for (size_t i = 0; once && i < arguments->list->count; i++) {
		if (arguments->list->items[i].row == row)
			return fail(refuse("--%s is given twice", row->name));
	}
	if (given_add(arguments->list, row, ORIGIN_COMMAND_LINE, text, 0) < 0)
		return fail(refuse("out of memory"));
	return 0;
}

/*
 * An argument that looks like an option is not taken as a value: people forget a value far more often than
 * they give one that begins with a dash. Such a value can be written as --name=value.
 */
static bool looks_like_option(const char *argument)
{
	char c = argument[0] == '-' ? argument[1] : '\0';

	return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int take_value(struct arguments *arguments, const struct option_row *row)
{
	const char *next = *arguments->at;

	if (!next)
		return fail(refuse("--%s needs %s", row->name, row->argument));
	if (looks_like_option(next))
		return fail(refuse("--%s needs %s, but '%s' follows; if that is meant: --%s=%s", row->name,
				   row->argument, next, row->name, next));
	arguments->at++;
	return note(arguments, row, next);
}

static int unknown_option(const char *given, const char *name)
{
	const struct option_row *nearest = option_nearest(name);

	return fail(refuse("unknown option '%s'%s%s (see resource-tracker --help)", given,
			   nearest ? "; the nearest is --" : "", nearest ? nearest->name : ""));
}

static int long_option(struct arguments *arguments, const char *argument)
{
	const char *name = argument + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	const struct option_row *row = option_by_name(name, length);

	if (!row) {
		char word[64];

		if (length >= sizeof(word))
			length = sizeof(word) - 1;
		memcpy(word, name, length);
		word[length] = '\0';
		return unknown_option(argument, word);
	}
	if (value)
		return note(arguments, row, value);
	if (row->kind == KIND_SWITCH)
		return note(arguments, row, "1");
	if (row->kind == KIND_OPTIONAL)
		return note(arguments, row, NULL);
	return take_value(arguments, row);
}

/* "-q", "-qi5", "-i 5" */
static int short_options(struct arguments *arguments, const char *argument)
{
	const char *word = argument + 1;

	/* "-interval 5" would otherwise mean an interval of "nterval". */
	if (word[1] && option_by_name(word, strcspn(word, "=")))
		return fail(refuse("unknown option '%s'; the nearest is -%s", argument, argument));
	for (const char *letter = word; *letter; letter++) {
		const struct option_row *row = option_by_letter(*letter);

		if (!row)
			return unknown_option(argument, word);
		if (row->kind == KIND_SWITCH) {
			if (note(arguments, row, "1") < 0)
				return -1;
			continue;
		}
		return letter[1] ? note(arguments, row, letter + 1) : take_value(arguments, row);
	}
	return 0;
}

int read_arguments(char **argv, struct given_list *list, char ***ret_command, bool *ret_separated)
{
	struct arguments arguments = {argv[0] ? argv + 1 : argv, list};
	bool separated = false;

	while (*arguments.at && (*arguments.at)[0] == '-' && !separated) {
		const char *argument = *arguments.at++;
		int r = 0;

		if (strcmp(argument, "--") == 0)
			separated = true;
		else if (argument[1] == '-')
			r = long_option(&arguments, argument);
		else if (argument[1])
			r = short_options(&arguments, argument);
		else
			r = fail(refuse("'-' is neither an option nor a command; to run a program of that "
					"name: -- -"));
		if (r < 0)
			return r;
	}
	*ret_command = *arguments.at ? arguments.at : NULL;
	*ret_separated = separated;
	return 0;
}
