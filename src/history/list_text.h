/* Runs as a table for people, from their lines (run_line.h). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Adds a heading and a row for each line. `width` is the terminal's: long names are cut to fit; 0: no limit. The text is
 * printable: names cannot control a terminal.
 */
void run_list_add_text(struct buffer *out, const json_t *const *lines, size_t count, size_t width,
		       bool colour);
