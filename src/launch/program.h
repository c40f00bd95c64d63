/* Checks programs by path or name. */
#pragma once

#include <stdbool.h>

/* Whether `path` is an executable file. */
bool is_program(const char *path);

/* Whether a shell would find a program with that name. */
bool is_on_path(const char *name);
