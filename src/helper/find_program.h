/*
 * Where the helper program is: TRACKER_HELPER if set; else beside the running program or library, or in the
 * libexec folder next to theirs; else in the folder it was configured to be installed in.
 */
#pragma once

#include <stddef.h>

#define HELPER_PROGRAM "resource-tracker-helper"

/* Returns 0, or -ENOENT (ret_path is then untouched). */
int find_helper_program(char *ret_path, size_t size);
