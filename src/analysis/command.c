/* What all subcommands share; see command.h. */
#include "analysis/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/program.h"
#include "base/write_all.h"

int command_write(const struct command *command, const char *path, const char *bytes, size_t length)
{
	bool to_file = path && strcmp(path, "-") != 0;
	CLEANUP_CLOSE int file = -1;
	int result;

	if (to_file) {
		file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
		if (file < 0)
			return command_fault(command, "%s: %s", path, strerror(errno));
	}
	result = write_all(to_file ? file : STDOUT_FILENO, bytes, length);
	if (result == 0 && to_file && close(take_fd(&file)) < 0)
		result = -errno;
	/* Whoever reads may have seen enough. */
	if (result == -EPIPE && !to_file)
		return 0;
	return result < 0 ? command_fault(command, "%s: %s", to_file ? path : "standard output",
					  strerror(-result))
			  : 0;
}

static void say(const struct command *command, const char *format, va_list arguments)
{
	fprintf(stderr, "resource-tracker %s: ", command->name);
	vfprintf(stderr, format, arguments);
}

int command_fault(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(command, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_FAULT;
}

int command_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(command, format, arguments);
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
	return fflush(stdout) == 0 ? 0 : EXIT_FAULT;
}
