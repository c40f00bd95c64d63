/* Errors of the input or output of a subcommand. */
#pragma once

#include "options/usage.h"

enum { EXIT_FAULT = 1 };

/* Prints "resource-tracker NAME: TEXT" on standard error; returns EXIT_FAULT. */
int command_fault(const struct subcommand *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
