/* See command_fault.h. */
#include "analysis/command_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"

int command_fault(const struct subcommand *command, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		text = NULL;
	else
		make_printable(text, (size_t)length);
	fprintf(stderr, "resource-tracker %s: %s\n", command->name, text ? text : "out of memory");
	return EXIT_FAULT;
}
