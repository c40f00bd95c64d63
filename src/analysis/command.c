/* Does the work that all subcommands share; see command.h. */
#include "analysis/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "base/write_all.h"
#include "launch/find_program.h"
#include "resource_tracker_analysis.h"

static struct {
	int argc;
	char **argv;
	bool force;
} invocation;

static const char FORCE[] = "--force";

int command_run(const struct command *command, int argc, char **argv)
{
	/* recommend has its own --force. It also allows overwriting, so it stays in argv. */
	bool own = strstr(command->options, FORCE) != NULL, options = true;
	int kept = 0;

	for (int i = 0; i < argc; i++) {
		options = options && strcmp(argv[i], "--") != 0;
		bool is_force = options && strcmp(argv[i], FORCE) == 0;

		invocation.force = invocation.force || is_force;
		if (!is_force || own)
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	invocation.argc = kept;
	invocation.argv = argv;
	return command->run(command, kept, argv);
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
	return count;
}

int command_check_output(const struct command *command, const char *path)
{
	CLEANUP_FREE const char **inputs = calloc(2 * (size_t)invocation.argc + 1, sizeof(*inputs));
	struct rt_problem problem = {"out of memory"};

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (!inputs ||
	    rt_output_check(path, inputs, list_inputs(path, inputs), invocation.force, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return 0;
}

/* Recordings, price lists and file names may contain control characters, which must not reach a terminal. */
static int print_foreign(const char *bytes, size_t length)
{
	CLEANUP_FREE char *text = malloc(length + 1);

	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, length);
	make_printable(text, length);
	return write_all(STDOUT_FILENO, text, length);
}

int command_write(const struct command *command, const char *path, const char *bytes, size_t length)
{
	struct rt_problem problem = {"out of memory"};
	int result;

	if (path && strcmp(path, "-") != 0) {
		result = command_check_output(command, path);
		if (result == 0 && rt_output_write(path, bytes, length, &problem) < 0)
			result = command_fault(command, "%s", problem.text);
		return result;
	}
	result = print_foreign(bytes, length);
	/* A reader such as head closes its end when it has seen enough; this is not an error. */
	if (result == -EPIPE)
		return 0;
	return result < 0 ? command_fault(command, "standard output: %s", strerror(-result)) : 0;
}

static void say_on_stderr(const struct command *command, const char *format, va_list arguments)
{
	CLEANUP_FREE char *text = NULL;

	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return;
	}
	make_printable(text, strlen(text));
	fprintf(stderr, "resource-tracker %s: %s", command->name, text);
}

int command_fault(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_on_stderr(command, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_FAULT;
}

int command_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_on_stderr(command, format, arguments);
	va_end(arguments);
	fprintf(stderr, " (see resource-tracker %s --help)\n", command->name);
	if (is_on_path(command->name))
		fprintf(stderr, "resource-tracker: to record the program '%s': resource-tracker -- %s ...\n",
			command->name, command->name);
	return EXIT_USAGE;
}

static int unknown_option(const struct command *command, const char *word, const struct option *options)
{
	CLEANUP_FREE char *name = strndup(word + 2, strcspn(word + 2, "="));
	struct nearest nearest = {0};

	for (; name && options->name; options++)
		nearest_consider(&nearest, name, options->name);
	return command_usage(command, "unknown option '%s'%s%s", word,
			     nearest.word ? "; the nearest is --" : "", nearest.word ? nearest.word : "");
}

int command_bad_option(const struct command *command, char *const *argv, const char *short_options,
		       const struct option *options)
{
	const char *word = argv[optind - 1];
	bool is_long = strncmp(word, "--", 2) == 0;
	size_t length = is_long ? strcspn(word + 2, "=") : 0;

	if (!is_long && optopt && strchr(short_options, optopt))
		return command_usage(command, "option '-%c' needs a value", optopt);
	if (!is_long)
		return command_usage(command, "unknown option '-%c'", optopt);
	if (!long_option_by_name(options, word + 2, length))
		return unknown_option(command, word, options);
	return command_usage(command, "option '%.*s' %s", (int)length + 2, word,
			     word[length + 2] ? "takes no value" : "needs a value");
}

int command_help(const struct command *command)
{
	printf("%s\n\nusage: resource-tracker %s\n%s%s", command->purpose, command->synopsis,
	       *command->options ? "\n" : "", command->options);
	if (strstr(command->options, "--output"))
		printf("\n--output replaces a recording only with --force, and never a file that is read.\n");
	return fflush(stdout) == 0 ? 0 : EXIT_FAULT;
}
