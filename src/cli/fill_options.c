/* How one option looks in the man pages and in the completions; see fill.h. */
#include "cli/fill.h"

#include <stdio.h>
#include <string.h>

bool is_any(const struct option_row *row)
{
	return row->name != NULL;
}

static bool has_choices(const struct option_row *row)
{
	return strchr(row->argument, '|') || row->kind == KIND_OPTIONAL;
}

bool takes_word(const struct option_row *row)
{
	return row->kind >= KIND_VALUE;
}

/* The word by which the completions know what an argument is: "METRIC" for a list of names of metrics. */
static const char *kind_of(const struct option_row *row)
{
	return strcmp(row->argument, "NAME[,NAME]") == 0 ? "METRIC" : row->argument;
}

void print_words(const char *choices)
{
	for (const char *c = choices; *c && *c != ']'; c++)
		putchar(*c == '|' ? ' ' : *c);
}

/* Puts a backslash before each character of `letters`. */
void print_escaped(const char *text, const char *letters)
{
	for (; *text; text++) {
		if (strchr(letters, *text))
			putchar('\\');
		putchar(*text);
	}
}

void print_names(struct option_list options, bool (*wanted)(const struct option_row *), const char *between)
{
	const char *separator = "";

	for (size_t i = 0; i < options.count; i++) {
		const struct option_row *row = &options.rows[i];

		if (!row->name || !wanted(row))
			continue;
		printf("%s--%s", separator, row->name);
		separator = between;
		if (row->letter)
			printf("%s-%c", separator, row->letter);
	}
}

/* ---- man page (scdoc) ------------------------------------------------------------------------------ */

void print_sentence(const char *help)
{
	char first[2] = {help[0], '\0'};

	if (first[0] >= 'a' && first[0] <= 'z')
		first[0] = (char)(first[0] - 'a' + 'A');
	print_escaped(first, "_*\\#");
	print_escaped(help + 1, "_*\\#");
	putchar('.');
}

void print_man_option(const struct option_row *row)
{
	if (row->letter)
		printf("*-%c*, ", row->letter);
	printf("*--%s*", row->name);
	if (*row->argument) {
		printf(row->kind == KIND_OPTIONAL ? "[=_" : " _");
		print_escaped(row->argument, "_*\\#[]");
		printf(row->kind == KIND_OPTIONAL ? "_]" : "_");
	}
	printf("\n\t");
	print_sentence(row->help);
	if (*row->more)
		printf(" %s", row->more);
	if (*row->default_text) {
		printf(" Default: ");
		print_escaped(row->default_text, "_*\\#");
		putchar('.');
	}
}

/* ---- shells ------------------------------------------------------------------------------------------ */

void print_bash_value(const struct option_row *row)
{
	printf(has_choices(row) ? "choices='" : "kind='");
	print_words(kind_of(row));
	printf("' ;;\n");
}

/* Inside single quotes of zsh. */
static void print_zsh_text(const char *text, const char *letters)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\'");
		if (strchr(letters, *text))
			putchar('\\');
		putchar(*text);
	}
}

static void print_zsh_action(const struct option_row *row)
{
	putchar(':');
	print_zsh_text(has_choices(row) ? "value" : row->argument, ":");
	putchar(':');
	if (has_choices(row)) {
		putchar('(');
		print_words(row->argument);
		putchar(')');
	} else if (strcmp(row->argument, "FILE") == 0) {
		printf("_files");
	} else if (strcmp(row->argument, "DIR") == 0) {
		printf("_files -/");
	} else if (strcmp(row->argument, "PID") == 0) {
		printf("_pids");
	} else if (strcmp(kind_of(row), "METRIC") == 0) {
		printf("_resource_tracker_metrics");
	} else {
		putchar(' ');
	}
}

void print_zsh_option(const struct option_row *row)
{
	const char *equals = row->kind == KIND_OPTIONAL ? "=-" : option_is_switch(row) ? "" : "=";

	if (row->letter && !option_is_repeatable(row))
		printf("'(-%c --%s)'", row->letter, row->name);
	if (option_is_repeatable(row))
		printf("\\*");
	if (row->letter)
		printf("{-%c%s,--%s%s}'", row->letter, option_is_switch(row) ? "" : "+", row->name, equals);
	else
		printf("'--%s%s", row->name, equals);
	putchar('[');
	print_zsh_text(row->help, "[]:");
	putchar(']');
	if (!option_is_switch(row)) {
		if (row->kind == KIND_OPTIONAL)
			putchar(':');
		print_zsh_action(row);
	}
	putchar('\'');
}

void print_fish_option(const struct option_row *row)
{
	if (row->letter)
		printf(" -s %c", row->letter);
	printf(" -l %s", row->name);
	if (has_choices(row)) {
		printf(row->kind == KIND_OPTIONAL ? " -f -a '" : " -x -a '");
		print_words(row->argument);
		printf("'");
	} else if (strcmp(row->argument, "FILE") == 0) {
		printf(" -r -F");
	} else if (strcmp(row->argument, "DIR") == 0) {
		printf(" -x -a '(__fish_complete_directories)'");
	} else if (strcmp(row->argument, "PID") == 0) {
		printf(" -x -a '(__fish_complete_pids)'");
	} else if (strcmp(kind_of(row), "METRIC") == 0) {
		printf(" -x -a '(__fish_append , (__resource_tracker_metrics))'");
	} else if (!option_is_switch(row)) {
		printf(" -x");
	}
	printf(" -d '");
	print_escaped(row->help, "'\\");
	printf("'\n");
}
