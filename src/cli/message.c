/* The command's messages to people; see message.h. */
#include "cli/message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/write_in_time.h"

enum {
	LINE_BYTES = 4000,
	LONGEST_TEXT = LINE_BYTES - 64,
	PATIENCE_MS = 1000,
};

/* stderr's reader did not read in time once: do not wait for it again. */
static bool stuck;

/*
 * One write, so that lines of several processes do not mix. If it fails, there is no other place to report
 * that.
 */
static void write_line(const struct buffer *line, int timeout_ms)
{
	int result = write_in_time(STDERR_FILENO, line->data, line->length, stuck ? 0 : timeout_ms);

	stuck = stuck || (timeout_ms > 0 && result == -ETIMEDOUT);
}

bool can_say(void)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&room, 1, stuck ? 0 : PATIENCE_MS) > 0 && room.revents & POLLOUT)
		return true;
	stuck = true;
	return false;
}

/* `subcommand` may be empty; NULL: the line does not begin with the program's name. */
static void say_line(const char *subcommand, const char *format, va_list args, int timeout_ms)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);
	CLEANUP_FREE char *text = NULL;

	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		return;
	}
	if (subcommand)
		buffer_printf(&line, "resource-tracker%s%s: ", *subcommand ? " " : "", subcommand);
	if (strlen(text) > LONGEST_TEXT)
		text[LONGEST_TEXT] = '\0';
	buffer_add_printable(&line, text);
	buffer_add_char(&line, '\n');
	if (buffer_error(&line) == 0)
		write_line(&line, timeout_ms);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("", format, args, PATIENCE_MS);
	va_end(args);
}

void say_of(const char *subcommand, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(subcommand, format, args, PATIENCE_MS);
	va_end(args);
}

void say_plainly(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(NULL, format, args, PATIENCE_MS);
	va_end(args);
}

void say_if_possible(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("", format, args, 0);
	va_end(args);
}

int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("", format, args, PATIENCE_MS);
	va_end(args);
	return EXIT_OWN_ERROR;
}

int print_text(const struct buffer *text)
{
	size_t written = 0;

	if (buffer_error(text) < 0)
		return refuse("out of memory");
	while (written < text->length) {
		ssize_t n = write(STDOUT_FILENO, text->data + written, text->length - written);

		if (n < 0 && errno != EINTR)
			return refuse("stdout: %s", strerror(errno));
		written += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
