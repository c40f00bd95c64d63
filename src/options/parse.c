/* Reads command lines by a table; see parse.h. */
#include "options/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runs_once.h"
#include "base/scan.h"

enum { WORD_MAX = 64, QUOTED_BYTES = 60 };

const char OUT_OF_MEMORY[] = "out of memory";

static int fail_parse(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail_parse(struct parser *parser, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(parser->message, sizeof(parser->message), format, arguments);
	va_end(arguments);
	return -1;
}

static int wrong_value(struct parser *parser, const struct option_row *row, const char *text, const char *why)
{
	if (why == OUT_OF_MEMORY)
		return fail_parse(parser, "%s", why);
	return fail_parse(parser, "--%s: '%.*s%s' %s", row->name, QUOTED_BYTES, text,
			  strlen(text) > QUOTED_BYTES ? "..." : "", why);
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Whether `text` is one of the words of "a|b|c". */
static bool is_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);

	while (*choices) {
		size_t one = strcspn(choices, "|");

		if (one == length && memcmp(choices, text, length) == 0)
			return true;
		choices += one + (choices[one] == '|');
	}
	return false;
}

static int wrong_choice(struct parser *parser, const struct option_row *row, const char *text)
{
	char why[PARSE_MESSAGE_BYTES / 2];
	int length = snprintf(why, sizeof(why), "is unknown; give one of ");

	for (const char *c = row->argument; *c && length + 3 < (int)sizeof(why); c++) {
		why[length++] = *c == '|' ? ',' : *c;
		if (*c == '|')
			why[length++] = ' ';
	}
	why[length] = '\0';
	return wrong_value(parser, row, text, why);
}

/* 1: the option is to be left out. */
static int check_value(struct parser *parser, const struct option_row *row, const char *text)
{
	struct scan scan = scan_trim(scan_bytes(text, strlen(text)));
	bool flag;

	if (option_is_switch(row)) {
		if (!scan_flag(&scan, &flag))
			return wrong_value(parser, row, text, "is neither yes nor no; give 1 or 0");
		return flag ? 0 : 1;
	}
	if (row->kind != KIND_OPEN && strchr(row->argument, '|') && !is_choice(row->argument, text))
		return wrong_choice(parser, row, text);
	return 0;
}

static int note_option(struct parser *parser, const struct option_row *row, const char *text)
{
	bool *seen = &parser->seen[row - parser->options.rows];
	const char *why;
	int r = parser->checks_values && text ? check_value(parser, row, text) : 0;

	if (row->kind >= KIND_VALUE && !option_is_repeatable(row) && *seen)
		return fail_parse(parser, "--%s is given twice", row->name);
	*seen = true;
	if (r)
		return r < 0 ? r : 0;
	why = parser->take(parser->context, row, text);
	return why ? wrong_value(parser, row, text ? text : "", why) : 0;
}

static bool looks_like_option(const char *argument)
{
	char c = argument[0] == '-' ? argument[1] : '\0';

	return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The value is the next word. */
static int take_next(struct parser *parser, const struct option_row *row, char ***at)
{
	const char *next = **at;

	if (!next)
		return fail_parse(parser, "--%s needs %s", row->name, row->argument);
	if (looks_like_option(next))
		return fail_parse(parser, "--%s needs %s, but '%.*s' follows; if that is meant: --%s=%.*s",
				  row->name, row->argument, QUOTED_BYTES, next, row->name, QUOTED_BYTES,
				  next);
	++*at;
	return note_option(parser, row, next);
}

/* ---- options ----------------------------------------------------------------------------------------- */

static int unknown_option(struct parser *parser, const char *given, const char *name)
{
	const struct option_row *nearest = nearest_option(parser->options, name);

	return fail_parse(parser, "unknown option '%.*s'%s%s", QUOTED_BYTES, given,
			  nearest ? "; the nearest is --" : "", nearest ? nearest->name : "");
}

static int long_option(struct parser *parser, const char *argument, char ***at)
{
	const char *name = argument + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	const struct option_row *row = find_option(parser->options, name, length);
	char word[WORD_MAX];

	if (!row) {
		snprintf(word, sizeof(word), "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), name);
		return unknown_option(parser, argument, word);
	}
	if (value)
		return note_option(parser, row, value);
	if (option_is_switch(row))
		return note_option(parser, row, "1");
	return row->kind == KIND_OPTIONAL ? note_option(parser, row, NULL) : take_next(parser, row, at);
}

/* "-q", "-qi5", "-i 5" */
static int short_options(struct parser *parser, const char *argument, char ***at)
{
	const char *word = argument + 1;

	/* "-interval 5" would otherwise be an interval of "nterval". */
	if (word[1] && find_option(parser->options, word, strcspn(word, "=")))
		return fail_parse(parser, "unknown option '%.*s'; the nearest is -%.*s", QUOTED_BYTES,
				  argument, QUOTED_BYTES, argument);
	for (const char *letter = word; *letter; letter++) {
		const struct option_row *row = find_letter(parser->options, *letter);

		if (!row)
			return unknown_option(parser, argument, word);
		if (row->kind == KIND_OPTIONAL && !letter[1])
			return note_option(parser, row, NULL);
		if (!option_is_switch(row))
			return letter[1] ? note_option(parser, row, letter + 1) : take_next(parser, row, at);
		if (note_option(parser, row, "1") < 0)
			return -1;
	}
	return 0;
}

static int take_operand(struct parser *parser, const char *word)
{
	const char *why = parser->take(parser->context, NULL, word);

	if (!why)
		return 0;
	return why == OUT_OF_MEMORY ? fail_parse(parser, "%s", why)
				    : fail_parse(parser, "'%.*s' %s", QUOTED_BYTES, word, why);
}

static int one_word(struct parser *parser, const char *argument, char ***at)
{
	bool is_option = argument[0] == '-' && !parser->separated;

	if (is_option && strcmp(argument, "--") == 0) {
		parser->separated = true;
		return 0;
	}
	if (is_option && argument[1] == '-')
		return long_option(parser, argument, at);
	if (is_option && argument[1])
		return short_options(parser, argument, at);
	if (is_option && parser->command_follows)
		return fail_parse(
			parser,
			"'-' is neither an option nor a command; to run a program of that name: -- -");
	return take_operand(parser, argument);
}

RUNS_ONCE int parse_words(struct parser *parser, char **argv, char ***ret_rest)
{
	char **at = argv[0] ? argv + 1 : argv;

	while (*at) {
		bool is_command = parser->command_follows && (parser->separated || (*at)[0] != '-');

		if (is_command)
			break;
		if (one_word(parser, *at++, &at) < 0)
			return -1;
	}
	if (ret_rest)
		*ret_rest = *at ? at : NULL;
	return 0;
}

bool asks_for_help(char **argv)
{
	for (argv += argv[0] != NULL; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "--help=all") == 0 ||
		    strcmp(*argv, "-h") == 0)
			return true;
	}
	return false;
}
