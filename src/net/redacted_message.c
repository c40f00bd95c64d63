/* Lines on stderr, redacted. See redacted_message.h. */
#include "net/redacted_message.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/printable.h"

enum { MOST_SECRETS = 16, LEAST_SECRET_LENGTH = 4, LONGEST_LINE = 1000 };

static const char REDACTED[] = "[redacted]";
static const char BEARER[] = "Bearer ";
static const char *secrets[MOST_SECRETS];
static bool enabled = true;
static const char *speaker = "";

void message_enable(bool on)
{
	enabled = on;
}

void add_secret(const char *secret)
{
	if (!secret || strlen(secret) < LEAST_SECRET_LENGTH)
		return;
	for (size_t i = 0; i < MOST_SECRETS; i++) {
		if (secrets[i])
			continue;
		secrets[i] = secret;
		return;
	}
}

void forget_secret(const char *secret)
{
	for (size_t i = 0; i < MOST_SECRETS; i++)
		if (secrets[i] == secret)
			secrets[i] = NULL;
}

/*
 * Returns the length of the longest secret that begins here, or 0: one secret may begin with another. The
 * beginning of a secret at the end of a text counts as well, because the text may have been cut there.
 */
static size_t secret_at(const char *at, size_t left)
{
	size_t longest = 0;

	for (size_t i = 0; i < MOST_SECRETS; i++) {
		size_t length = secrets[i] ? strlen(secrets[i]) : 0;

		if (length > left && left >= LEAST_SECRET_LENGTH)
			length = left;
		if (length > longest && length <= left && memcmp(at, secrets[i], length) == 0)
			longest = length;
	}
	return longest;
}

static size_t word_length(const char *at, size_t left)
{
	size_t length = 0;

	while (length < left && (unsigned char)at[length] > ' ' && at[length] != '"' && at[length] != '\'')
		length++;
	return length;
}

void add_redacted(struct buffer *out, const char *text, size_t length, size_t limit)
{
	size_t start = out->length;
	bool blank = true;

	for (size_t i = 0; i < length && out->length - start < limit;) {
		size_t hidden = secret_at(text + i, length - i);

		if (hidden) {
			buffer_add_text(out, REDACTED);
			i += hidden;
			blank = false;
		} else if (length - i > strlen(BEARER) && memcmp(text + i, BEARER, strlen(BEARER)) == 0) {
			buffer_printf(out, "%s%s", BEARER, REDACTED);
			i += strlen(BEARER);
			i += word_length(text + i, length - i);
			blank = false;
		} else if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f) {
			if (!blank)
				buffer_add_char(out, ' ');
			blank = true;
			i++;
		} else {
			buffer_add_char(out, text[i++]);
			blank = false;
		}
	}
}

void message_name(const char *subcommand)
{
	speaker = subcommand;
}

void say_redacted(const char *format, ...)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(8 << 10);
	struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
	char text[LONGEST_LINE];
	va_list arguments;

	if (!enabled)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_printf(&line, "resource-tracker%s%s: ", *speaker ? " " : "", speaker);
	add_redacted(&line, text, strlen(text), LONGEST_LINE);
	if (!buffer_error(&line))
		make_printable(line.data, line.length);
	buffer_add_char(&line, '\n');
	if (buffer_error(&line) || poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
		return;
	if (write(STDERR_FILENO, line.data, line.length) < 0)
		return;
}
