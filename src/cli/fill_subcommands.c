/* Subcommands in the man pages and the completions; see fill.h. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/fill.h"
#include "options/rows.h"

/* In the order of --help; the identifiers of options are of no use here. */
static const struct subcommand ALL[] = {
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/analysis_subcommands.def"
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/cli_subcommands.def"
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct option_row ROWS[] = {
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(0, __VA_ARGS__)
#include "options/analysis_subcommands.def"
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(0, __VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(0, __VA_ARGS__)
#include "options/cli_subcommands.def"
	LAST_ROW,
};

/* ---- man pages (scdoc) ------------------------------------------------------------------------------- */

void man_subcommands(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		printf("*%s* ", subcommand->name);
		print_escaped(subcommand->arguments, "_*\\#[]");
		printf("\n\t");
		print_sentence(subcommand->help);
		printf(" See *resource-tracker-%s*(1).\n\n", subcommand->name);
	}
}

/* Paragraphs, and no mark-up in them. */
static void print_paragraphs(const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\#[]`", *text) && *text != '`')
			putchar('\\');
		if (*text == '\n')
			printf("\n\n");
		else if (*text == '`')
			putchar('*');
		else
			putchar(*text);
	}
	printf("\n\n");
}

bool man_page(const char *name)
{
	const struct subcommand *subcommand = find_subcommand(ALL, name);
	struct option_list options = options_of(ROWS, name);

	if (!subcommand)
		return false;
	printf("resource-tracker-%s(1) \"resource-tracker\"\n\n# NAME\n\nresource-tracker-%s - ", name, name);
	print_escaped(subcommand->help, "_*\\#");
	printf("\n\n# SYNOPSIS\n\n*resource-tracker %s* %s", name, options.count ? "[_OPTIONS_] " : "");
	print_escaped(subcommand->arguments, "_*\\#[]");
	printf("\n\n# DESCRIPTION\n\n");
	print_sentence(subcommand->purpose);
	printf("\n\n");
	if (*subcommand->notes)
		print_paragraphs(subcommand->notes);
	printf("# OPTIONS\n\n");
	for (size_t i = 0; i < options.count; i++) {
		print_man_option(&options.rows[i]);
		printf("\n\n");
	}
	printf("*-h*, *--help*\n\tPrint the help.\n\n"
	       "Names of options cannot be abbreviated. A switch can be turned off again with *=no*.\n\n"
	       "# EXIT STATUS\n\n0 on success, 1 if something could not be read, written or sent, 2 after a "
	       "mistake on "
	       "the command line.\n\n"
	       "# EXAMPLES\n\n```\n%s\n```\n",
	       subcommand->example);
	printf("\n# SEE ALSO\n\n*resource-tracker*(1)\n");
	return true;
}

/* ---- bash -------------------------------------------------------------------------------------------- */

void bash_subcommand_options(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		printf("\t%s) options='", subcommand->name);
		print_names(options_of(ROWS, subcommand->name), is_any, " ");
		printf(" --help -h' ;;\n");
	}
}

void bash_subcommand_values(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		struct option_list options = options_of(ROWS, subcommand->name);

		for (size_t i = 0; i < options.count; i++) {
			const struct option_row *row = &options.rows[i];

			if (option_is_switch(row))
				continue;
			printf("\t'%s --%s'", subcommand->name, row->name);
			if (row->letter)
				printf(" | '%s -%c'", subcommand->name, row->letter);
			printf(") ");
			print_bash_value(row);
		}
	}
}

/* The last operand where it is one of a few words, as of "NAME [start|stop]"; else NULL. */
static const char *operand_words(const struct subcommand *subcommand)
{
	const char *blank = strrchr(subcommand->arguments, ' ');
	const char *last = blank ? blank + 1 : subcommand->arguments;

	last += *last == '[';
	return *last >= 'a' && *last <= 'z' ? last : NULL;
}

/*
 * The kind of operands, for subcommands whose operands are not plain files: "RUN" a file or a run of the history,
 * "KEPT" only such a run, "METRIC" a metric. NULL: a plain file, or none.
 */
static const char *operand_kind(const struct subcommand *subcommand)
{
	static const struct {
		const char *arguments, *kind;
	} KINDS[] = {{"FILE...", "RUN"},
		     {"[FILE...] [-- ", "RUN"},
		     {"A B...", "RUN"},
		     {"RUN", "KEPT"},
		     {"[NAME...]", "KEPT"}};

	if (strcmp(subcommand->name, "metrics") == 0)
		return "METRIC";
	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		if (strncmp(subcommand->arguments, KINDS[i].arguments, strlen(KINDS[i].arguments)) == 0)
			return KINDS[i].kind;
	return NULL;
}

void bash_operands(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		if (operand_kind(subcommand))
			printf("\t%s) kind=%s ;;\n", subcommand->name, operand_kind(subcommand));
		if (!operand_words(subcommand))
			continue;
		printf("\t%s) choices='", subcommand->name);
		print_words(operand_words(subcommand));
		printf("' ;;\n");
	}
}

/* ---- zsh --------------------------------------------------------------------------------------------- */

void zsh_subcommands(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++)
		printf("\t\t'%s:%s'\n", subcommand->name, subcommand->help);
}

static void print_zsh_operand(const struct subcommand *subcommand)
{
	if (strcmp(subcommand->name, "help") == 0) {
		printf("'1:subcommand:(");
		for (const struct subcommand *other = ALL; other->name; other++)
			printf("%s%s", other == ALL ? "" : " ", other->name);
		printf(")'\n");
	} else if (operand_words(subcommand)) {
		printf("'*:word:(");
		print_words(operand_words(subcommand));
		printf(")'\n");
	} else if (operand_kind(subcommand)) {
		printf("'*:%s'\n", strcmp(operand_kind(subcommand), "METRIC") == 0
					   ? "metric:_resource_tracker_metrics"
				   : strcmp(operand_kind(subcommand), "KEPT") == 0
					   ? "run:_resource_tracker_runs"
					   : "recording:_resource_tracker_recordings");
	} else {
		printf("'*:file:_files'\n");
	}
}

void zsh_subcommand_options(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		struct option_list options = options_of(ROWS, subcommand->name);

		printf("\t%s)\n\t\t_arguments -s \\\n", subcommand->name);
		for (size_t i = 0; i < options.count; i++) {
			printf("\t\t\t");
			print_zsh_option(&options.rows[i]);
			printf(" \\\n");
		}
		printf("\t\t\t'(- *)'{-h,--help}'[print the help]' \\\n\t\t\t");
		print_zsh_operand(subcommand);
		printf("\t\t;;\n");
	}
}

/* ---- fish -------------------------------------------------------------------------------------------- */

void fish_subcommands(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++)
		printf("complete -c resource-tracker -n __resource_tracker_first_word -a %s -d '%s'\n",
		       subcommand->name, subcommand->help);
}

void fish_subcommand_names(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++)
		printf("%s%s", subcommand == ALL ? "\t" : " ", subcommand->name);
	putchar('\n');
}

void fish_subcommand_options(void)
{
	for (const struct subcommand *subcommand = ALL; subcommand->name; subcommand++) {
		struct option_list options = options_of(ROWS, subcommand->name);

		for (size_t i = 0; i < options.count; i++) {
			printf("complete -c resource-tracker -n '__resource_tracker_in %s'",
			       subcommand->name);
			print_fish_option(&options.rows[i]);
		}
		printf("complete -c resource-tracker -n '__resource_tracker_in %s' -s h -l help -d 'print "
		       "the help'\n",
		       subcommand->name);
		if (operand_kind(subcommand))
			printf("complete -c resource-tracker -n '__resource_tracker_in %s' -f -a "
			       "'(__resource_tracker_%s)'\n",
			       subcommand->name,
			       strcmp(operand_kind(subcommand), "METRIC") == 0 ? "metrics"
			       : strcmp(operand_kind(subcommand), "RUN") == 0  ? "recordings"
									       : "runs");
		if (!operand_words(subcommand))
			continue;
		printf("complete -c resource-tracker -n '__resource_tracker_in %s' -f -a '",
		       subcommand->name);
		print_words(operand_words(subcommand));
		printf("'\n");
	}
}
