/* Tells of recordings that a newer program has written. */
#pragma once

#include <stdbool.h>

#include "options/usage.h"

/*
 * Says in one line on stderr that a recording ("FILE" or "NAME=FILE") has a newer schema than this program knows, and returns
 * true. It looks at the first sample. A pipe cannot be read twice, so nothing is said about one.
 */
bool tell_newer_schema(const struct subcommand *command, const char *file);
