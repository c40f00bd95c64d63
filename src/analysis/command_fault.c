/* See command_fault.h. */
#include "analysis/command_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"

char *command_text(const char *format, va_list arguments)
{
	char *text = NULL;

	return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

int command_fault(const struct subcommand *command, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = command_text(format, arguments);
	va_end(arguments);
	if (text)
		make_printable(text, strlen(text));
	fprintf(stderr, "resource-tracker %s: %s\n", command->name, text ? text : "out of memory");
	return EXIT_FAULT;
}
