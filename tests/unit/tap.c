/*
 * Replaces cmocka's print_message(). cmocka reports a skipped test as "not ok 4 # SKIP name", which readers
 * of TAP take for a failure; TAP's form is "ok 4 - name # SKIP".
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* The definition in the executable also replaces the shared library's for calls inside the library. */
__attribute__((visibility("default"))) void print_message(const char *const format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (strcmp(format, "not ok %u # SKIP %s\n") == 0)
		vprintf("ok %u - %s # SKIP\n", arguments);
	else
		vprintf(format, arguments);
	/* Without this, a child that the test forks would print it again. */
	fflush(stdout);
	va_end(arguments);
}
