/* A screen as a grid. See canvas.h. */
#include "live/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/printable.h"

enum { TEXT_BYTES = 4096, REPLACEMENT = '?', CUT_MARK = '+' };

int canvas_begin(struct canvas *canvas, size_t rows, size_t columns)
{
	struct cell *cells = calloc(rows * columns + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < rows * columns; i++)
		cells[i].character = ' ';
	free(canvas->cells);
	*canvas = (struct canvas){rows, columns, cells};
	return 0;
}

void canvas_done(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){0};
}

bool canvas_row_is(const struct canvas *canvas, const struct canvas *other, size_t row)
{
	bool same = canvas->rows == other->rows && canvas->columns == other->columns;

	for (size_t i = row * canvas->columns; same && i < (row + 1) * canvas->columns; i++)
		same = canvas->cells[i].character == other->cells[i].character &&
		       canvas->cells[i].look == other->cells[i].look;
	return same;
}

void canvas_put(struct canvas *canvas, size_t row, size_t column, uint32_t character, enum look look)
{
	if (row < canvas->rows && column < canvas->columns)
		canvas->cells[row * canvas->columns + column] = (struct cell){character, (uint8_t)look};
}

void canvas_look(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look)
{
	for (size_t i = column; row < canvas->rows && i < canvas->columns && i < column + width; i++)
		canvas->cells[row * canvas->columns + i].look = (uint8_t)look;
}

/* Reads a code point of text that is valid UTF-8, because it has passed through printable.h. */
static uint32_t next_character(const unsigned char **at)
{
	unsigned char first = *(*at)++;
	uint32_t character = first < 0x80   ? first
			     : first < 0xe0 ? first & 0x1f
			     : first < 0xf0 ? first & 0x0f
					    : first & 0x07;

	while ((**at & 0xc0) == 0x80)
		character = character << 6 | (*(*at)++ & 0x3f);
	return character;
}

/* A locale that does not know a character shows it as one '?'. */
static size_t canvas_columns(uint32_t character)
{
	int columns = character < 0x80 ? 1 : wcwidth((wchar_t)character);

	return columns < 0 ? 1 : (size_t)columns;
}

static size_t columns_of_clean(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t columns = 0;

	while (*at)
		columns += canvas_columns(next_character(&at));
	return columns;
}

size_t text_columns(const char *text)
{
	struct buffer clean = BUFFER(TEXT_BYTES);
	size_t columns;

	buffer_add_printable(&clean, text);
	columns = buffer_error(&clean) || !clean.data ? 0 : columns_of_clean(clean.data);
	buffer_done(&clean);
	return columns;
}

size_t canvas_text(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		   const char *text)
{
	struct buffer clean = BUFFER(TEXT_BYTES);
	const unsigned char *at;
	size_t used = 0;

	buffer_add_printable(&clean, text);
	if (buffer_error(&clean) || !clean.data) {
		buffer_done(&clean);
		return 0;
	}
	at = (const unsigned char *)clean.data;
	while (*at) {
		const unsigned char *start = at;
		uint32_t character = next_character(&at);
		size_t columns = canvas_columns(character);
		bool is_last = columns_of_clean((const char *)start) <= width - used;

		if (!is_last && used + columns + 1 > width) {
			if (used < width)
				canvas_put(canvas, row, column + used++, CUT_MARK, LOOK_FAINT);
			break;
		}
		if (!columns)
			continue;
		canvas_put(canvas, row, column + used, character, look);
		for (size_t i = 1; i < columns; i++)
			canvas_put(canvas, row, column + used + i, 0, look);
		used += columns;
	}
	buffer_done(&clean);
	return used;
}

size_t canvas_printf(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		     const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return canvas_text(canvas, row, column, width, look, text);
}

void canvas_text_right(struct canvas *canvas, size_t row, size_t column, size_t width, enum look look,
		       const char *text)
{
	size_t columns = text_columns(text);

	canvas_text(canvas, row, column + (columns < width ? width - columns : 0), width, look, text);
}
