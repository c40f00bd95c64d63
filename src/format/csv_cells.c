/* Reads the cells of a CSV line. See csv_cells.h. */
#include "format/csv_cells.h"

#include <errno.h>
#include <math.h>

/* Reads from the opening quote to the closing one. Two quotes stand for one. */
static int quoted_cell(struct cells *cells, struct cell_text *ret_cell)
{
	struct scan part;

	buffer_clear(&cells->unquoted);
	if (!scan_until(&cells->line, '"', &part))
		return -EBADMSG;
	*ret_cell = (struct cell_text){part, true};
	if (!scan_left(&cells->line) || *cells->line.at != '"')
		return 1;
	buffer_add(&cells->unquoted, part.at, scan_left(&part));
	while (scan_literal(&cells->line, "\"")) {
		buffer_add_char(&cells->unquoted, '"');
		if (!scan_until(&cells->line, '"', &part))
			return -EBADMSG;
		buffer_add(&cells->unquoted, part.at, scan_left(&part));
	}
	if (buffer_error(&cells->unquoted))
		return buffer_error(&cells->unquoted);
	ret_cell->text = scan_bytes(cells->unquoted.data, cells->unquoted.length);
	return 1;
}

int cells_next(struct cells *cells, struct cell_text *ret_cell)
{
	struct scan *line = &cells->line, rest;

	if (cells->ended)
		return 0;
	if (scan_literal(line, "\"")) {
		int result = quoted_cell(cells, ret_cell);

		if (result < 0)
			return result;
		if (!scan_until(line, ',', &rest)) {
			rest = *line;
			cells->ended = true;
		}
		return scan_left(&rest) ? -EBADMSG : 1;
	}
	if (!scan_until(line, ',', &rest)) {
		rest = *line;
		cells->ended = true;
	}
	*ret_cell = (struct cell_text){rest, false};
	return 1;
}

int64_t scan_whole_count(struct scan text)
{
	int64_t count;
	double fraction;

	if (!scan_i64(&text, &count) || count_absent(count))
		return no_count(ABSENT_NOT_A_VALUE);
	if (scan_left(&text) &&
	    (*text.at != '.' || !scan_real(&text, &fraction) || fraction != 0 || scan_left(&text)))
		return no_count(ABSENT_NOT_A_VALUE);
	return count;
}

double scan_whole_real(struct scan text)
{
	double real;

	if (!scan_real(&text, &real) || scan_left(&text))
		return no_real(ABSENT_NOT_A_VALUE);
	return real;
}
