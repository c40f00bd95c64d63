/*
 * Decides whether a file is a recording. A new recording renames such a file first, and subcommands refuse to
 * replace it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Decides by the beginning: samples as JSON (lines or a list), CSV with the header of any layout, rows of numbers
 * that fit such a layout, or marks of phases. A first line that was torn off counts. `whole`: the bytes are the
 * whole file. Empty files and all other files are not recordings.
 */
bool begins_recording(const char *bytes, size_t length, bool whole);

/* The same for a descriptor, whose offset does not change. Returns false if it cannot be read. */
bool is_recording(int fd);

/* Whether one of the first lines of the file is the line of a run (history/run_line.h), whole or torn off. */
bool holds_run_lines(int fd);
