/* The command's messages to people; see message.h. */
#include "cli/message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/write_all.h"
#include "launch/in_time.h"

enum {
	LINE_BYTES = 4000,
	PATIENCE_MS = 1000,
};

/* stderr's reader did not read in time once: do not wait for it again. */
static bool stuck;

static const char *refusal = "";

/*
 * One write, so that lines of several processes do not mix. If it fails, there is no other place to report
 * that.
 */
static void write_line(const char *line, size_t length, int timeout_ms)
{
	int reason = errno;
	int result = write_line_in_time(STDERR_FILENO, line, length, stuck ? 0 : timeout_ms);

	/* Callers go on with the reason that they have just told. */
	errno = reason;
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

/*
 * `subcommand` may be empty; NULL: the line does not begin with the program's name. Allocates nothing: there may be no memory to
 * say so.
 */
static void say_line(const char *subcommand, const char *format, va_list args, int timeout_ms)
{
	char line[LINE_BYTES] = "", *text = line;

	if (subcommand)
		text += snprintf(line, sizeof line, "resource-tracker%s%s: ",
				 !*subcommand            ? ""
				 : subcommand == refusal ? ": "
							 : " ",
				 subcommand);
	vsnprintf(text, LINE_BYTES - 1 - (size_t)(text - line), format, args);
	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = '?';
	make_printable(text, strlen(text));
	text += strlen(text);
	*text++ = '\n';
	write_line(line, (size_t)(text - line), timeout_ms);
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

void refuse_step(void)
{
	refusal = "this step is not recorded";
}

int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(refusal, format, args, PATIENCE_MS);
	va_end(args);
	return EXIT_OWN_ERROR;
}

int print_text(const struct buffer *text)
{
	int r = buffer_error(text);

	if (r < 0)
		return refuse("out of memory");
	r = write_all(STDOUT_FILENO, text->data, text->length);
	return r < 0 ? refuse("stdout: %s", strerror(-r)) : 0;
}
