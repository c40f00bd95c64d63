/*
 * Fits text to a terminal: folds long lines, turns style marks into colours or leaves them out, and writes plain ASCII
 * where the locale has no more.
 *
 * A style mark is one control character. Foreign text cannot contain one, because it passes through base/printable.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define STYLE_BAD "\001"
#define STYLE_GOOD "\002"
#define STYLE_STRONG "\003"
#define STYLE_FAINT "\004"
#define STYLE_END "\005"

struct screen {
	size_t columns;
	bool colour, ascii;
};

/*
 * The screen behind a descriptor. `colour`: "always", "never", or "auto" for a terminal without NO_COLOR and other than
 * "dumb". A line has as many columns as the terminal, and 80 in a file or pipe. The variable COLUMNS overrides both.
 */
bool is_colour_choice(const char *colour);
struct screen screen_of(int fd, const char *colour);
/* The same for a table, whose lines programs read from a file or pipe: there they have no limit, unless COLUMNS is set. */
struct screen table_screen_of(int fd, const char *colour);

/*
 * Appends `text`. A line that is too long is folded at a blank. Its rest is indented by `hanging` columns, or by two below a
 * line without an indent. A number stays with its unit. Each code point counts as one
 * column. Other control characters become '?'.
 */
void screen_add(struct buffer *out, const char *text, const struct screen *screen, size_t hanging);

/* Appends a part of a line as it is, with its style marks as colours. */
void screen_add_line(struct buffer *out, const char *text, size_t length, const struct screen *screen);
/* How many columns it takes. */
size_t screen_columns(const char *text, size_t length);
