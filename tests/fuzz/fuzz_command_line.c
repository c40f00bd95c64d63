/*
 * The command line of the recorder up to the job, with settings of the environment: lines "TRACKER_NAME=VALUE", then the
 * arguments, a line each. No setting may crash it, each refusal is one line, and the job's words are passed on as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/alone.h"
#include "cli/front.h"
#include "cli/keep_run.h"
#include "cli/message.h"
#include "fuzz.h"

enum { MOST_WORDS = 64, MOST_BYTES = 1 << 14 };

static int said;

/* Instead of src/cli/message.c: a line is only looked at. */
static void look_at(const char *format, va_list arguments)
{
	char line[2 * MOST_BYTES];
	int length = vsnprintf(line, sizeof(line), format, arguments);

	must_hold(length > 0);
	said++;
}

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	look_at(format, arguments);
	va_end(arguments);
}

int refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	look_at(format, arguments);
	va_end(arguments);
	return EXIT_OWN_ERROR;
}

/* Instead of src/cli/alone.c: the command of a fuzzed line does not run. */
int alone_for_lack(char **command, const char *lack)
{
	(void)command;
	return refuse("%s", lack);
}

int print_text(const struct buffer *text)
{
	must_hold(text->length > 0);
	return 0;
}

/* Instead of src/cli/keep_run.c: a fuzzed command line leaves no run behind, even on a developer's terminal. */
bool run_is_kept(const struct front *front)
{
	must_hold(front->config);
	return false;
}

bool run_is_in_ci_log(const struct front *front)
{
	must_hold(front->config);
	return false;
}

int begin_kept_run(struct front *front)
{
	must_hold(front->keeps);
	return 0;
}

/* The lines of an input: those of the environment are set, and the others are returned. */
static int take_lines(char *text, char **words, char **variables, int *ret_variable_count)
{
	int count = 1, variable_count = 0;

	for (char *line = text; line && count < MOST_WORDS; line = text) {
		char *equals;

		text = strchr(line, '\n');
		if (text)
			*text++ = '\0';
		equals = strchr(line, '=');
		if (count > 1 || !equals || strncmp(line, "TRACKER_", strlen("TRACKER_")) != 0) {
			words[count++] = line;
			continue;
		}
		*equals = '\0';
		if (variable_count < MOST_WORDS && setenv(line, equals + 1, 1) == 0)
			variables[variable_count++] = line;
	}
	*ret_variable_count = variable_count;
	return count;
}

static void check(const struct front *front, char *const *words, int count, int status)
{
	if (status >= 0) {
		must_hold(status == 0 || said > 0);
		return;
	}
	must_hold(front->config && (front->mode == MODE_WRAP) == (front->command != NULL));
	must_hold((front->mode == MODE_ATTACH) == (front->pid != 0 && !front->command));
	must_hold(front->temporary_fd >= 0);
	if (front->command)
		must_hold(front->command > words && front->command < words + count && **front->command);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char program[] = "resource-tracker", text[MOST_BYTES], *words[MOST_WORDS + 1] = {program},
	     *variables[MOST_WORDS];
	int count, variable_count, status;
	struct front front;

	if (length >= sizeof(text))
		return 0;
	memcpy(text, bytes, length);
	text[length] = '\0';
	/* A configuration file may be a FIFO, which is waited for; the content of files is for another target. */
	if (strchr(text, '/'))
		return 0;
	count = take_lines(text, words, variables, &variable_count);
	words[count] = NULL;
	said = 0;
	status = front_read(words, &front);
	check(&front, words, count, status);
	front_done(&front);
	for (int i = 0; i < variable_count; i++)
		unsetenv(variables[i]);
	return 0;
}
