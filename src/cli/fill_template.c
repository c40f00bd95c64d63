/*
 * Used at build time only: writes the lists of options into the man page and the completions.
 *
 * 	fill_template TEMPLATE >FILE
 *
 * A line that consists of @NAME@ is replaced by the output of that function in the table PARTS. All other
 * lines are copied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"
#include "cli/help.h"
#include "options/options.h"

enum { TEMPLATE_BYTES = 1 << 20 };

static bool is_switch(const struct option_row *row)
{
	return row->kind == KIND_SWITCH;
}

static bool is_choice(const struct option_row *row)
{
	return strchr(row->argument, '|') != NULL;
}

static void print_choices(const struct option_row *row)
{
	for (const char *c = row->argument; *c; c++)
		putchar(*c == '|' ? ' ' : *c);
}

/* Puts a backslash before each character of `letters`. */
static void print_escaped(const char *text, const char *letters)
{
	for (; *text; text++) {
		if (strchr(letters, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* ---- man page (scdoc) ------------------------------------------------------------------------------ */

static void print_sentence(const char *help)
{
	char first[2] = {help[0], '\0'};

	if (first[0] >= 'a' && first[0] <= 'z')
		first[0] = (char)(first[0] - 'a' + 'A');
	print_escaped(first, "_*\\#");
	print_escaped(help + 1, "_*\\#");
	putchar('.');
}

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
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];

		if (row->heading) {
			printf("## %s\n\n", row->heading);
			continue;
		}
		if (row->letter)
			printf("*-%c*, ", row->letter);
		printf("*--%s*", row->name);
		if (row->kind == KIND_OPTIONAL)
			printf("[=_%s_]", row->argument);
		else if (*row->argument)
			printf(" _%s_", row->argument);
		printf("\n\t");
		print_sentence(row->help);
		if (*row->more)
			printf(" %s", row->more);
		if (*row->default_text) {
			printf(" Default: ");
			print_escaped(row->default_text, "_*\\#");
			putchar('.');
		}
		if (option_has_variable(row))
			print_places(row);
		printf("\n\n");
	}
}

static void man_subcommands(void)
{
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++) {
		printf("*%s* ", subcommand->name);
		print_escaped(subcommand->arguments, "_*\\#[]");
		printf("\n\t");
		print_sentence(subcommand->help);
		printf("\n\n");
	}
}

/* ---- bash ------------------------------------------------------------------------------------------ */

/* Prints "-i|--interval" for each option that `wanted` accepts, with `between` between them. */
static void print_names(bool (*wanted)(const struct option_row *), const char *between)
{
	const char *separator = "";

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (!OPTIONS[i].name || !wanted(&OPTIONS[i]))
			continue;
		printf("%s--%s", separator, OPTIONS[i].name);
		separator = between;
		if (OPTIONS[i].letter)
			printf("%s-%c", separator, OPTIONS[i].letter);
	}
}

static bool any(const struct option_row *row)
{
	return row->name != NULL;
}

/* Whether the option's value may be the next word. */
static bool takes_word(const struct option_row *row)
{
	return row->kind == KIND_VALUE || row->kind == KIND_LIST;
}

static void bash_lists(void)
{
	printf("\tlocal options='");
	print_names(any, " ");
	printf("'\n\tlocal subcommands='");
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		printf("%s%s", subcommand == SUBCOMMANDS ? "" : " ", subcommand->name);
	printf("'\n");
}

static void bash_takes_word(void)
{
	printf("\t\t");
	print_names(takes_word, " | ");
	printf(")\n");
}

static void bash_values(void)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];

		if (!row->name || is_switch(row))
			continue;
		printf("\t--%s", row->name);
		if (row->letter)
			printf(" | -%c", row->letter);
		printf(") ");
		if (is_choice(row)) {
			printf("choices='");
			print_choices(row);
			printf("'");
		} else {
			printf("kind=%s", row->argument);
		}
		printf(" ;;\n");
	}
}

/* ---- zsh ------------------------------------------------------------------------------------------- */

static void zsh_action(const struct option_row *row)
{
	putchar(':');
	if (is_choice(row))
		printf("value");
	else
		print_escaped(row->argument, ":");
	putchar(':');
	if (is_choice(row)) {
		putchar('(');
		print_choices(row);
		putchar(')');
	} else if (strcmp(row->argument, "FILE") == 0) {
		printf("_files");
	} else if (strcmp(row->argument, "DIR") == 0) {
		printf("_files -/");
	} else if (strcmp(row->argument, "PID") == 0) {
		printf("_pids");
	} else {
		putchar(' ');
	}
}

static void zsh_help(const struct option_row *row)
{
	putchar('[');
	print_escaped(row->help, "[]:");
	putchar(']');
}

static void zsh_options(void)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];
		const char *equals = row->kind == KIND_OPTIONAL ? "=-" : is_switch(row) ? "" : "=";

		if (!row->name)
			continue;
		printf("\t\t");
		if (row->letter && row->kind != KIND_LIST)
			printf("'(-%c --%s)'", row->letter, row->name);
		if (row->kind == KIND_LIST)
			printf("\\*");
		if (row->letter)
			printf("{-%c%s,--%s%s}'", row->letter, is_switch(row) ? "" : "+", row->name, equals);
		else
			printf("'--%s%s", row->name, equals);
		zsh_help(row);
		if (!is_switch(row)) {
			if (row->kind == KIND_OPTIONAL)
				putchar(':');
			zsh_action(row);
		}
		printf("' \\\n");
	}
}

static void zsh_subcommands(void)
{
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		printf("\t\t'%s:%s'\n", subcommand->name, subcommand->help);
}

/* ---- fish ------------------------------------------------------------------------------------------ */

static void fish_options(void)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];

		if (!row->name)
			continue;
		printf("complete -c resource-tracker -n __resource_tracker_before_command");
		if (row->letter)
			printf(" -s %c", row->letter);
		printf(" -l %s", row->name);
		if (is_choice(row)) {
			printf(row->kind == KIND_OPTIONAL ? " -f -a '" : " -x -a '");
			print_choices(row);
			printf("'");
		} else if (strcmp(row->argument, "FILE") == 0) {
			printf(" -r -F");
		} else if (strcmp(row->argument, "DIR") == 0) {
			printf(" -x -a '(__fish_complete_directories)'");
		} else if (strcmp(row->argument, "PID") == 0) {
			printf(" -x -a '(__fish_complete_pids)'");
		} else if (!is_switch(row)) {
			printf(" -x");
		}
		printf(" -d '%s'\n", row->help);
	}
}

static void fish_takes_word(void)
{
	printf("\t\t\tcase ");
	print_names(takes_word, " ");
	printf("\n");
}

static void fish_subcommands(void)
{
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		printf("complete -c resource-tracker -n __resource_tracker_first_word -a %s -d '%s'\n",
		       subcommand->name, subcommand->help);
}

/* ---- templates ------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(void);
} PARTS[] = {
	{"@man-options@", man_options},         {"@man-subcommands@", man_subcommands},
	{"@bash-lists@", bash_lists},           {"@bash-takes-word@", bash_takes_word},
	{"@bash-values@", bash_values},         {"@zsh-options@", zsh_options},
	{"@zsh-subcommands@", zsh_subcommands}, {"@fish-options@", fish_options},
	{"@fish-takes-word@", fish_takes_word}, {"@fish-subcommands@", fish_subcommands},
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

	if (argc != 2 || !text || !(file = fopen(argv[1], "r")))
		return 2;
	length = fread(text, 1, TEMPLATE_BYTES, file);
	lines = scan_bytes(text, length);
	while (scan_line(&lines, &line))
		print_line(&line);
	return ferror(file) || fclose(file) != 0 || fflush(stdout) != 0;
}
