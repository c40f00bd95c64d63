/* Whether a file holds a recording: what is renamed before a new one is written, and what subcommands do not replace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * By its beginning: samples as JSON (lines or a list), CSV with a header of any layout, rows of numbers as such a layout has
 * them, or marks of phases. A beginning that was torn off within its first line counts. `whole`: the bytes are the whole
 * file. Empty files and all others are no recordings.
 */
bool begins_recording(const char *bytes, size_t length, bool whole);

/* The same of a descriptor, whose offset does not change. False if it cannot be read. */
bool is_recording(int fd);
