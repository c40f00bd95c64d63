/* Programs by name. */
#pragma once

#include <stdbool.h>

/* Whether `path` is a file that may be executed. */
bool is_program(const char *path);

/* Whether a shell would find a program of that name. */
bool is_on_path(const char *name);
