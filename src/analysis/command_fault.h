/* Errors of the input or output of a subcommand. */
#pragma once

#include <stdarg.h>

#include "options/usage.h"

enum { EXIT_FAULT = 1 };

/* The text of a message, which the caller frees. NULL: memory is exhausted. */
char *command_text(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Prints "resource-tracker NAME: TEXT" on standard error, and returns EXIT_FAULT. */
int command_fault(const struct subcommand *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
