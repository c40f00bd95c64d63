/*
 * Used at build time only: fills the lists of options into the man page and the completions.
 *
 *	fill_template TEMPLATE >FILE
 *	fill_template --man SUBCOMMAND >FILE
 *
 * A line that is @NAME@ and nothing else is replaced by what the table PARTS makes of the tables of options; all others
 * are copied. The man page of a subcommand has no template.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"
#include "cli/fill.h"
#include "cli/help.h"
#include "options/options.h"

enum { TEMPLATE_BYTES = 1 << 20 };

static void print_places(const struct option_row *row)
{
	const char *dot = strchr(row->toml_key, '.');
	char variable[64];

	option_variable(row, variable, sizeof(variable));
	printf("++\nEnvironment: ");
	print_escaped(variable, "_");
	if (dot) {
		printf(". Configuration: \\[%.*s\\] ", (int)(dot - row->toml_key), row->toml_key);
		print_escaped(dot + 1, "_");
	}
	putchar('.');
}

static void man_options(void)
{
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (row->heading) {
			printf("## %s\n\n", row->heading);
			continue;
		}
		print_man_option(row);
		if (option_has_variable(row))
			print_places(row);
		printf("\n\n");
	}
}

static void bash_lists(void)
{
	printf("\tlocal options='");
	print_names(recorder_options(), is_any, " ");
	printf("'\n\tlocal subcommands='");
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		printf("%s%s", subcommand == SUBCOMMANDS ? "" : " ", subcommand->name);
	printf("'\n");
}

static void bash_takes_word(void)
{
	printf("\t\t");
	print_names(recorder_options(), takes_word, " | ");
	printf(")\n");
}

static void bash_values(void)
{
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (!row->name || option_is_switch(row))
			continue;
		printf("\t--%s", row->name);
		if (row->letter)
			printf(" | -%c", row->letter);
		printf(") ");
		print_bash_value(row);
	}
}

static void zsh_options(void)
{
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (!row->name)
			continue;
		printf("\t\t");
		print_zsh_option(row);
		printf(" \\\n");
	}
}

static void fish_options(void)
{
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (!row->name)
			continue;
		printf("complete -c resource-tracker -n __resource_tracker_before_command");
		print_fish_option(row);
	}
}

static void fish_takes_word(void)
{
	printf("\t\t\tcase ");
	print_names(recorder_options(), takes_word, " ");
	printf("\n");
}

static const struct {
	const char *name;
	void (*print)(void);
} PARTS[] = {
	{"@man-options@", man_options},
	{"@man-subcommands@", man_subcommands},
	{"@bash-lists@", bash_lists},
	{"@bash-takes-word@", bash_takes_word},
	{"@bash-values@", bash_values},
	{"@bash-subcommand-options@", bash_subcommand_options},
	{"@bash-subcommand-values@", bash_subcommand_values},
	{"@bash-operands@", bash_operands},
	{"@zsh-options@", zsh_options},
	{"@zsh-subcommands@", zsh_subcommands},
	{"@zsh-subcommand-options@", zsh_subcommand_options},
	{"@fish-options@", fish_options},
	{"@fish-takes-word@", fish_takes_word},
	{"@fish-subcommands@", fish_subcommands},
	{"@fish-subcommand-names@", fish_subcommand_names},
	{"@fish-subcommand-options@", fish_subcommand_options},
};

static void print_line(const struct scan *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(PARTS); i++) {
		if (scan_is(line, PARTS[i].name)) {
			PARTS[i].print();
			return;
		}
	}
	printf("%.*s\n", (int)scan_left(line), line->at);
}

int main(int argc, char **argv)
{
	CLEANUP_FREE char *text = malloc(TEMPLATE_BYTES);
	struct scan lines, line;
	size_t length;
	FILE *file;

	if (argc == 3 && strcmp(argv[1], "--man") == 0)
		return !man_page(argv[2]) || fflush(stdout) != 0;
	if (argc != 2 || !text || !(file = fopen(argv[1], "r")))
		return 2;
	length = fread(text, 1, TEMPLATE_BYTES, file);
	lines = scan_bytes(text, length);
	while (scan_line(&lines, &line))
		print_line(&line);
	return ferror(file) || fclose(file) != 0 || fflush(stdout) != 0;
}
