/* Runs as a table for people, from their lines (run_line.h). */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/screen.h"

/*
 * Adds a heading and a row for each line. Long names are cut to fit the screen. The text is printable: names cannot control
 * a terminal.
 */
void run_list_add_text(struct buffer *out, const json_t *const *lines, size_t count,
		       const struct screen *screen);
