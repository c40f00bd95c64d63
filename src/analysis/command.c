/* Does the work that all subcommands share; see command.h. */
#include "analysis/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/find_run.h"
#include "analysis/newer_schema.h"
#include "base/cleanup.h"
#include "base/is_page.h"
#include "base/printable.h"
#include "base/write_all.h"
#include "launch/pager.h"
#include "options/parse.h"
#include "options/rows.h"
#include "resource_tracker_internal.h"

enum { HELP_BYTES = 64 << 10, QUOTED_BYTES = 60 };

static const char NOT_VALID[] = "is not a valid value";

static const struct subcommand COMMANDS[] = {
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/analysis_subcommands.def"
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct option_row ROWS[] = {
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW((int)offsetof(struct id##_words, key), __VA_ARGS__)
#include "options/analysis_subcommands.def"
	LAST_ROW,
};

static struct {
	int argc;
	char **argv;
	const struct subcommand *command;
	const struct text_list *files; /* the operands, as paths */
	bool force;
	const char *colour;
	bool without_pager;
} invocation = {.colour = "auto"};

int command_help(const struct subcommand *command)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);

	add_subcommand_help(&text, command, options_of(ROWS, command->name));
	return buffer_error(&text) || write_all(STDOUT_FILENO, text.data, text.length) < 0 ? EXIT_FAULT : 0;
}

const struct subcommand *command_named(const char *name)
{
	return find_subcommand(COMMANDS, name);
}

struct reading {
	struct command_line *options;
	const struct subcommand *command; /* NULL: do not look for recordings among the operands */
	bool not_found;                   /* an operand names neither a file nor a run */
};

/* `text` is NULL for an OPTIONAL without a value. */
static bool store_option(const struct option_row *row, void *field, const char *text)
{
	switch (row->kind) {
	case KIND_SWITCH:
		*(bool *)field = true;
		return true;
	case KIND_NUMBER:
		return parse_count(text, field) && *(int64_t *)field >= 0;
	case KIND_POSITIVE:
		return parse_real(text, field) && *(double *)field > 0;
	case KIND_LIST:
		return text_list_add(field, text);
	case KIND_PARTS:
		return text_list_add_parts(field, text);
	case KIND_STEP:
		return text_list_add(field, row->name) && text_list_add(field, text);
	default:
		*(const char **)field = text && row->kind != KIND_WORD ? text : row->name;
		return true;
	}
}

/* The options that have a meaning for all subcommands (options/screen_options.h). */
static void note_common_option(const struct option_row *row, const char *text)
{
	if (strcmp(row->name, "color") == 0)
		invocation.colour = text;
	else if (strcmp(row->name, "no-pager") == 0)
		invocation.without_pager = true;
	else if (strcmp(row->name, "force") == 0)
		invocation.force = true;
}

static const char *take_word(void *context, const struct option_row *row, const char *text)
{
	struct reading *reading = context;

	if (!row && reading->command) {
		const char *why = add_operand(reading->command, &reading->options->files, text);

		reading->not_found = why != NULL;
		return why;
	}
	if (!row)
		return text_list_add(&reading->options->files, text) ? NULL : OUT_OF_MEMORY;
	note_common_option(row, text);
	return store_option(row, (char *)reading->options + row->id, text) ? NULL : NOT_VALID;
}

/* A file may be read several times. */
static void tell_damaged(const char *path)
{
	static struct text_list told;

	for (size_t i = 0; i < told.count; i++)
		if (strcmp(told.texts[i], path) == 0)
			return;
	(void)text_list_add_copy(&told, path);
	(void)command_fault(invocation.command,
			    "%s: its gzip data or checksum is wrong: the part before the damage is used, and "
			    "its figures may be wrong",
			    path);
}

static int read_line(const struct subcommand *command, char **argv, struct reading reading, char ***ret_rest)
{
	struct parser parser = {
		.options = options_of(ROWS, command->name),
		.take = take_word,
		.context = &reading,
		.checks_values = true,
		.command_follows = ret_rest != NULL,
	};

	invocation.argv = argv;
	invocation.command = command;
	rt_record_on_damage(tell_damaged);
	invocation.files = &reading.options->files;
	for (invocation.argc = 0; argv[invocation.argc];)
		invocation.argc++;
	if (parse_words(&parser, argv, ret_rest) == 0)
		return 0;
	return reading.not_found ? command_fault(command, "%s", parser.message)
				 : say_usage(command->name, parser.message);
}

int command_read(const struct subcommand *command, char **argv, void *options)
{
	const struct text_list *files = &((struct command_line *)options)->files;
	int status = read_line(command, argv, (struct reading){options, command, false}, NULL);

	for (size_t i = 0; status == 0 && i < files->count; i++)
		if (tell_newer_schema(command, files->texts[i]))
			break;
	return status;
}

int command_read_words(const struct subcommand *command, char **argv, void *options)
{
	return read_line(command, argv, (struct reading){options, NULL, false}, NULL);
}

int command_read_command(const struct subcommand *command, char **argv, void *options, char ***ret_rest)
{
	return read_line(command, argv, (struct reading){options, NULL, false}, ret_rest);
}

void command_options_done(const char *subcommand, void *options)
{
	struct option_list list = options_of(ROWS, subcommand);
	struct command_line *line = options;

	text_list_done(&line->files);
	text_list_done(&line->steps);
	for (size_t i = 0; i < list.count; i++)
		if (list.rows[i].kind == KIND_LIST || list.rows[i].kind == KIND_PARTS)
			text_list_done((struct text_list *)(void *)((char *)options + list.rows[i].id));
}

void command_list(struct buffer *out)
{
	for (const struct subcommand *command = COMMANDS; command->name; command++)
		buffer_printf(out, "  %-14s %s\n", command->name, command->help);
}

/* Any word may name an input file, and so may the part of a word behind "=". */
static size_t list_inputs(const char *output, const char **ret_inputs)
{
	size_t count = 0;

	for (int i = 1; i < invocation.argc; i++) {
		const char *word = invocation.argv[i], *equals = strchr(word, '=');
		bool is_output = output >= word && output <= word + strlen(word);

		if (is_output)
			continue;
		ret_inputs[count++] = word;
		if (equals)
			ret_inputs[count++] = equals + 1;
	}
	for (size_t i = 0; i < invocation.files->count; i++) {
		const char *file = invocation.files->texts[i], *equals = strchr(file, '=');

		ret_inputs[count++] = equals ? equals + 1 : file;
	}
	return count;
}

int command_check_output(const struct subcommand *command, const char *path)
{
	CLEANUP_FREE const char **inputs = calloc(3 * (size_t)invocation.argc + 1, sizeof(*inputs));
	struct rt_problem problem = {"out of memory"};

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (!inputs ||
	    rt_output_check(path, inputs, list_inputs(path, inputs), invocation.force, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return 0;
}

int command_check_page(const struct subcommand *command, const char *path)
{
	struct stat status;

	if (command_check_output(command, path))
		return EXIT_FAULT;
	if (invocation.force || strcmp(path, "-") == 0 || stat(path, &status) < 0 ||
	    !S_ISREG(status.st_mode) || is_page(path))
		return 0;
	return command_fault(
		command, "cannot write to %s: it has content that is not an HTML page; --force replaces it",
		path);
}

int command_screen(const char *path)
{
	return path ? -1 : STDOUT_FILENO;
}

const char *command_colour(void)
{
	return invocation.colour;
}

static int print_bytes(const char *bytes, size_t length)
{
	if (!invocation.without_pager && show_paged(bytes, length))
		return 0;
	return write_all(STDOUT_FILENO, bytes, length);
}

/* Recordings, price lists and file names may contain control characters, which must not reach a terminal. */
static int print_foreign(const char *bytes, size_t length)
{
	CLEANUP_FREE char *text = malloc(length + 1);

	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, length);
	make_printable(text, length);
	return print_bytes(text, length);
}

static int write_text(const struct subcommand *command, const char *path, const char *bytes, size_t length,
		      int (*print)(const char *bytes, size_t length))
{
	struct rt_problem problem = {"out of memory"};
	int result;

	if (path && strcmp(path, "-") != 0) {
		result = command_check_output(command, path);
		if (result == 0 && rt_output_write(path, bytes, length, &problem) < 0)
			result = command_fault(command, "%s", problem.text);
		return result;
	}
	result = print(bytes, length);
	/* A reader such as head closes its end when it has seen enough; this is not an error. */
	if (result == -EPIPE)
		return 0;
	return result < 0 ? command_fault(command, "standard output: %s", strerror(-result)) : 0;
}

int command_write(const struct subcommand *command, const char *path, const char *bytes, size_t length)
{
	return write_text(command, path, bytes, length, print_foreign);
}

int command_write_fitted(const struct subcommand *command, const char *path, const char *text)
{
	return write_text(command, path, text, strlen(text), print_bytes);
}

int command_usage(const struct subcommand *command, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = command_text(format, arguments);
	va_end(arguments);
	return say_usage(command->name, text ? text : OUT_OF_MEMORY);
}

int command_wrong_value(const struct subcommand *command, const char *option, const char *text)
{
	return command_usage(command, "--%s: '%.*s%s' %s", option, QUOTED_BYTES, text,
			     strlen(text) > QUOTED_BYTES ? "..." : "", NOT_VALID);
}

int command_check_pairs(const struct subcommand *command, const char *option, const struct text_list *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!strchr(texts->texts[i], '='))
			return command_wrong_value(command, option, texts->texts[i]);
	return 0;
}

int command_split(const struct subcommand *command, const char *option, const struct text_list *texts,
		  struct text_list *ret_parts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!text_list_add_parts(ret_parts, texts->texts[i]) || !ret_parts->count)
			return command_wrong_value(command, option, texts->texts[i]);
	return 0;
}
