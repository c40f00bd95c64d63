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

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

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
	fputc('\n', stderr);
}

int command_fault(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(command, format, arguments);
	va_end(arguments);
	return EXIT_FAULT;
}

int command_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(command, format, arguments);
	va_end(arguments);
	fprintf(stderr, "usage: resource-tracker %s\n(resource-tracker %s --help says more)\n",
		command->synopsis, command->name);
	return EXIT_USAGE;
}

int command_help(const struct command *command)
{
	printf("%s\n\nusage: resource-tracker %s\n%s%s", command->purpose, command->synopsis,
	       *command->options ? "\n" : "", command->options);
	return fflush(stdout) == 0 ? 0 : EXIT_FAULT;
}
