/* Writes tables as text: for people, CSV, JSON. See resource_tracker_analysis.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "format/csv_cells.h"
#include "table/table.h"

enum { TEXT_CEILING = 1 << 30, SHOWN_ROWS = 10 };

int buffer_take_text(struct buffer *buffer, char **ret_text)
{
	int result = buffer_reserve(buffer, 0);

	if (result < 0)
		return result;
	*ret_text = buffer->data;
	buffer->data[buffer->length] = '\0';
	*buffer = BUFFER(buffer->ceiling);
	return 0;
}

void cell_add_text(struct buffer *out, struct rt_value cell)
{
	switch (cell.type) {
	case RT_TYPE_NONE:
		buffer_add_text(out, "None");
		break;
	case RT_TYPE_COUNT:
	case RT_TYPE_FLAG:
		buffer_add_i64(out, cell.count);
		break;
	case RT_TYPE_REAL:
		buffer_add_shortest(out, cell.real);
		break;
	case RT_TYPE_TEXT:
		buffer_add_text(out, cell.text);
		break;
	}
}

void cell_add_json(struct buffer *out, struct rt_value cell)
{
	if (cell.type == RT_TYPE_TEXT)
		json_escape(out, cell.text, strlen(cell.text));
	else if (cell.type == RT_TYPE_NONE || (cell.type == RT_TYPE_REAL && !isfinite(cell.real)))
		buffer_add_text(out, "null");
	else
		cell_add_text(out, cell);
}

/* Counts characters, not bytes. */
static size_t width_of(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static void pad_with(struct buffer *out, size_t from, size_t to, char with)
{
	for (; from < to; from++)
		buffer_add_char(out, with);
}

static bool looks_like_number(const struct buffer *text)
{
	struct scan scan = scan_trim(scan_bytes(text->data, text->length));

	if (!real_absent(scan_whole_real(scan)))
		return true;
	(void)(scan_literal(&scan, "-") || scan_literal(&scan, "+"));
	return scan_is(&scan, "nan") || scan_is(&scan, "inf");
}

/* Prints a cell for a terminal, with control characters and line ends replaced. */
static void show_cell(struct buffer *out, struct rt_value cell)
{
	buffer_clear(out);
	cell_add_text(out, cell);
	for (size_t i = 0; i < out->length; i++)
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f)
			out->data[i] = '?';
}

/* Makes each column as wide as its widest shown cell. */
static size_t *column_widths(const rt_table *table, size_t rows, struct buffer *cell)
{
	size_t columns = rt_table_column_count(table),
	       *widths = calloc(columns ? columns : 1, sizeof(*widths));

	for (size_t i = 0; widths && i < columns; i++) {
		const char *name = rt_table_column_name(table, i);

		widths[i] = width_of(name, strlen(name));
		for (size_t row = 0; row < rows; row++) {
			size_t width;

			show_cell(cell, rt_table_get(table, i, row));
			width = width_of(cell->data, cell->length);
			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
	return widths;
}

static void add_text_row(struct buffer *out, const rt_table *table, size_t row, const size_t *widths,
			 struct buffer *cell)
{
	for (size_t i = 0; i < rt_table_column_count(table); i++) {
		size_t width;
		bool right;

		show_cell(cell, rt_table_get(table, i, row));
		width = width_of(cell->data, cell->length);
		right = looks_like_number(cell);
		buffer_add_text(out, i ? " | " : "");
		pad_with(out, right ? width : widths[i], widths[i], ' ');
		buffer_add(out, cell->data, cell->length);
		pad_with(out, right ? widths[i] : width, widths[i], ' ');
	}
}

/* Returns the length of the line of names. */
static size_t add_text_heading(struct buffer *out, const rt_table *table, const size_t *widths)
{
	size_t columns = rt_table_column_count(table), length = 0;

	for (size_t i = 0; i < columns; i++) {
		const char *name = rt_table_column_name(table, i);

		buffer_printf(out, "%s%s", i ? " | " : "", name);
		pad_with(out, width_of(name, strlen(name)), widths[i], ' ');
		length += widths[i] + (i ? 3 : 0);
	}
	buffer_add_char(out, '\n');
	for (size_t i = 0; i < columns; i++) {
		buffer_add_text(out, i ? "-+-" : "");
		pad_with(out, 0, widths[i], '-');
	}
	return length;
}

int rt_table_to_text(const rt_table *table, size_t rows, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING), cell = BUFFER(TEXT_CEILING);
	size_t all = rt_table_row_count(table), columns = rt_table_column_count(table), length;
	size_t shown = rows && rows < all ? rows : all;
	CLEANUP_FREE size_t *widths = NULL;

	if (buffer_reserve(&cell, 0) < 0)
		return -ENOMEM;
	buffer_printf(&out, "TinyDataFrame with %zu rows and %zu columns:\n", all, columns);
	if (!columns) {
		buffer_add_text(&out, "Empty dataframe");
		return buffer_take_text(&out, ret_text);
	}
	widths = column_widths(table, shown, &cell);
	if (!widths)
		return -ENOMEM;
	length = add_text_heading(&out, table, widths);
	for (size_t row = 0; row < shown; row++) {
		buffer_add_char(&out, '\n');
		add_text_row(&out, table, row, widths, &cell);
	}
	if (shown < all) {
		buffer_add_text(&out, "\n...");
		pad_with(&out, 3, length, ' ');
	}
	return buffer_error(&cell) ? buffer_error(&cell) : buffer_take_text(&out, ret_text);
}

/* Writes Python's repr() of a cell: texts in quotes. */
static void add_repr(struct buffer *out, struct rt_value cell)
{
	if (cell.type == RT_TYPE_TEXT)
		buffer_printf(out, strchr(cell.text, '\'') ? "\"%s\"" : "'%s'", cell.text);
	else
		cell_add_text(out, cell);
}

int rt_table_describe(const rt_table *table, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	size_t rows = rt_table_row_count(table), columns = rt_table_column_count(table);

	buffer_printf(&out, "TinyDataFrame with %zu rows and %zu columns. First row as a dict: {", rows,
		      columns);
	for (size_t i = 0; rows && i < columns; i++) {
		buffer_printf(&out, "%s'%s': ", i ? ", " : "", rt_table_column_name(table, i));
		add_repr(&out, rt_table_get(table, i, 0));
	}
	buffer_add_char(&out, '}');
	return buffer_take_text(&out, ret_text);
}

static void add_csv_cell(struct buffer *out, struct rt_value cell, bool quote)
{
	const char *text = cell.type == RT_TYPE_TEXT ? cell.text : "";

	if (cell.type == RT_TYPE_COUNT || cell.type == RT_TYPE_REAL) {
		cell_add_text(out, cell);
		return;
	}
	if (!quote && !text[strcspn(text, ",\"\r\n")]) {
		buffer_add_text(out, text);
		return;
	}
	buffer_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buffer_add_char(out, '"');
		buffer_add_char(out, *text);
	}
	buffer_add_char(out, '"');
}

int rt_table_to_csv(const rt_table *table, bool quote, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	size_t columns = rt_table_column_count(table);

	for (size_t i = 0; i < columns; i++) {
		struct rt_value name = {.type = RT_TYPE_TEXT, .text = rt_table_column_name(table, i)};

		buffer_add_text(&out, i ? "," : "");
		add_csv_cell(&out, name, quote);
	}
	buffer_add_text(&out, "\r\n");
	for (size_t row = 0; row < rt_table_row_count(table); row++) {
		size_t start = out.length;

		for (size_t i = 0; i < columns; i++) {
			buffer_add_text(&out, i ? "," : "");
			add_csv_cell(&out, rt_table_get(table, i, row), quote);
		}
		/* A line that is one empty cell would read as an empty line. */
		if (out.length == start)
			buffer_add_text(&out, "\"\"");
		buffer_add_text(&out, "\r\n");
	}
	return buffer_take_text(&out, ret_text);
}

int rt_table_to_json(const rt_table *table, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	buffer_add_char(&out, '[');
	for (size_t row = 0; row < rt_table_row_count(table); row++) {
		buffer_add_text(&out, row ? ",\n{" : "{");
		for (size_t i = 0; i < rt_table_column_count(table); i++) {
			const char *name = rt_table_column_name(table, i);

			buffer_add_text(&out, i ? "," : "");
			json_escape(&out, name, strlen(name));
			buffer_add_char(&out, ':');
			cell_add_json(&out, rt_table_get(table, i, row));
		}
		buffer_add_char(&out, '}');
	}
	buffer_add_text(&out, "]\n");
	return buffer_take_text(&out, ret_text);
}
