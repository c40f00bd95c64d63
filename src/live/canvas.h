/*
 * A screen as a grid of characters with looks. It is made without a terminal, and shown by terminal.h.
 *
 * Text that is put on it passes through base/printable.h, so no control character of a recording reaches a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of a text. The terminal decides how that looks. */
enum look {
	LOOK_PLAIN,
	LOOK_FAINT,
	LOOK_STRONG,
	LOOK_CPU,
	LOOK_MEMORY,
	LOOK_STORAGE,
	LOOK_NETWORK,
	LOOK_GPU,
	LOOK_GOOD,
	LOOK_WARNING,
	LOOK_BAD,
	LOOK_HEADING,
	LOOK_CHOSEN,
	LOOKS,
	LOOK_CURSOR = 0x40, /* beside one of them: the column that is looked at */
};

struct cell {
	uint32_t character; /* a code point. 0: the second half of a wide character */
	uint8_t look;
};

struct canvas {
	size_t rows, columns;
	struct cell *cells;
};

/* Empties the canvas, and gives it a size. Returns 0 or -ENOMEM. */
int canvas_begin(struct canvas *canvas, size_t rows, size_t columns);
void canvas_done(struct canvas *canvas);

/* Whether a row is the same on another canvas, of the same size. */
bool canvas_row_is(const struct canvas *canvas, const struct canvas *other, size_t row);

/* Puts a character. Outside of the canvas nothing happens. */
void canvas_put(struct canvas *canvas, size_t row, size_t column, uint32_t character, enum look look);

/* Puts a text in at most `width` columns. A longer one ends with a mark. Returns the columns that it takes. */
size_t canvas_text(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		   const char *text);
size_t canvas_printf(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The same at the right end of the `width` columns. */
void canvas_text_right(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		       const char *text);

/* The columns of a text. */
size_t text_columns(const char *text);

/* Gives a part of a row another look. */
void canvas_look(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look);
