/* Aligns cells in columns. See grid.h. */
#include "base/grid.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { GAP = 2, NARROWEST_SHRUNK = 12, LEAST_HEADING = 6, CELL_CEILING = 64 << 10 };

void grid_done(struct grid *grid)
{
	for (size_t i = 0; i < grid->column_count; i++)
		free(grid->columns[i].heading);
	for (size_t i = 0; i < grid->cell_count; i++)
		buffer_done(&grid->cells[i]);
	free(grid->columns);
	free(grid->cells);
	*grid = (struct grid){0};
}

static void add_grid_column(struct grid *grid, struct grid_column column)
{
	struct grid_column *columns = realloc(grid->columns, (grid->column_count + 1) * sizeof(*columns));

	if (columns)
		grid->columns = columns;
	if (!columns || !column.heading) {
		free(column.heading);
		grid->failed = true;
		return;
	}
	columns[grid->column_count++] = column;
}

void grid_add_column(struct grid *grid, const char *heading, bool right)
{
	add_grid_column(grid, (struct grid_column){.heading = strdup(heading), .right = right});
}

void grid_add_shrinking(struct grid *grid, const char *heading)
{
	add_grid_column(grid, (struct grid_column){.heading = strdup(heading), .shrinks = true});
}

struct buffer *grid_cell(struct grid *grid)
{
	static struct buffer nowhere; /* its ceiling is 0: it takes no text */
	size_t room = grid->cell_room ? 2 * grid->cell_room : 64;
	struct buffer *cells;

	if (grid->cell_count == grid->cell_room) {
		cells = realloc(grid->cells, room * sizeof(*cells));
		if (!cells) {
			grid->failed = true;
			return &nowhere;
		}
		grid->cells = cells;
		grid->cell_room = room;
	}
	grid->cells[grid->cell_count] = BUFFER(CELL_CEILING);
	return &grid->cells[grid->cell_count++];
}

void grid_add_cell(struct grid *grid, const char *text)
{
	buffer_add_text(grid_cell(grid), text);
}

/* ---- widths ------------------------------------------------------------------------------------------ */

static size_t rows_of_grid(const struct grid *grid)
{
	return grid->column_count ? grid->cell_count / grid->column_count : 0;
}

static const struct buffer *cell_at(const struct grid *grid, size_t row, size_t column)
{
	return &grid->cells[row * grid->column_count + column];
}

/* The next line of a heading: as many of its parts as fit, one at least. The blank behind a part may hang over. */
static size_t heading_part(const char *heading, size_t width)
{
	size_t length = 0;

	while (heading[length]) {
		size_t more = strcspn(heading + length, "_. ");
		bool is_blank = heading[length + more] == ' ';

		more += heading[length + more] != '\0';
		if (length && screen_columns(heading, length + more - is_blank) > width)
			break;
		length += more;
	}
	return length;
}

static size_t without_blank(const char *heading, size_t length)
{
	return length && heading[length - 1] == ' ' ? length - 1 : length;
}

static size_t heading_lines(const char *heading, size_t width, size_t *ret_widest)
{
	size_t lines = 0;

	for (; *heading; lines++) {
		size_t length = heading_part(heading, width),
		       columns = screen_columns(heading, without_blank(heading, length));

		*ret_widest = columns > *ret_widest ? columns : *ret_widest;
		heading += length;
	}
	return lines;
}

/* The least width with which a heading takes at most two lines. */
static size_t two_line_width(const char *heading)
{
	size_t all = screen_columns(heading, strlen(heading)), least = all;

	for (size_t width = LEAST_HEADING; width < all; width++) {
		size_t widest = 0;

		if (heading_lines(heading, width, &widest) <= 2 && widest < least)
			least = widest;
	}
	return least;
}

static size_t natural_width(const struct grid *grid, size_t column, bool folds)
{
	const char *heading = grid->columns[column].heading;
	size_t width, widest = 0;

	/* The keys are names. Their headings are short. */
	width = column < grid->keys || !folds ? SIZE_MAX : two_line_width(heading);
	for (size_t row = 0; row < rows_of_grid(grid); row++) {
		const struct buffer *cell = cell_at(grid, row, column);
		size_t columns = screen_columns(cell->data ? cell->data : "", cell->length);

		widest = columns > widest ? columns : widest;
	}
	width = widest > width ? widest : width;
	(void)heading_lines(heading, width, &widest);
	return widest;
}

static size_t set_widths(const struct grid *grid, size_t *ret_widths, bool folds)
{
	size_t all = 0;

	for (size_t i = 0; i < grid->column_count; i++) {
		ret_widths[i] = natural_width(grid, i, folds);
		all += ret_widths[i] + (i ? GAP : 0);
	}
	return all;
}

/* Headings are folded, and the shrinking column is cut, only if the table would else be too wide. */
static void find_grid_widths(const struct grid *grid, size_t *widths, size_t screen)
{
	size_t all = set_widths(grid, widths, false), shrinking = 0;

	if (all > screen)
		all = set_widths(grid, widths, true);
	while (shrinking < grid->column_count && !grid->columns[shrinking].shrinks)
		shrinking++;
	if (all <= screen || shrinking == grid->column_count || widths[shrinking] <= NARROWEST_SHRUNK)
		return;
	widths[shrinking] = all - screen + NARROWEST_SHRUNK < widths[shrinking]
				    ? widths[shrinking] - (all - screen)
				    : NARROWEST_SHRUNK;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

struct line {
	const struct grid *grid;
	struct buffer *out;
	const struct screen *screen;
	const size_t *widths;
	size_t blanks; /* owed before the next text: none stand at the end of a line */
};

static void add_padded(struct line *line, size_t column, const char *text, size_t length)
{
	const struct grid_column *kind = &line->grid->columns[column];
	size_t width = line->widths[column], columns = screen_columns(text, length);
	size_t missing = width > columns ? width - columns : 0;

	if (kind->right)
		line->blanks += missing;
	if (length)
		buffer_printf(line->out, "%*s", (int)line->blanks, "");
	if (length)
		line->blanks = 0;
	screen_add_line(line->out, text, length, line->screen);
	line->blanks += (kind->right ? 0 : missing) + GAP + (length ? 0 : columns);
}

/* Cuts a name at its end: "a-long-na..." */
static void add_grid_cell(struct line *line, size_t row, size_t column)
{
	const struct buffer *cell = cell_at(line->grid, row, column);
	const char *text = cell->data ? cell->data : "";
	size_t width = line->widths[column], end = 0;
	CLEANUP_BUFFER struct buffer cut = BUFFER(CELL_CEILING);

	if (screen_columns(text, cell->length) <= width) {
		add_padded(line, column, text, cell->length);
		return;
	}
	while (screen_columns(text, end + 1) <= width - strlen("..."))
		end++;
	buffer_add(&cut, text, end);
	buffer_add_text(&cut, "...");
	add_padded(line, column, cut.data ? cut.data : "", cut.length);
}

static void end_line(struct line *line)
{
	buffer_add_char(line->out, '\n');
	line->blanks = 0;
}

/* The columns of one table: the keys, and those from `first` to before `end`. */
static bool grid_column_is_shown(const struct grid *grid, size_t column, size_t first, size_t end)
{
	return column < grid->keys || (column >= first && column < end);
}

/* Headings stand at the bottom of their lines, next to the cells. */
static void add_headings(struct line *line, size_t first, size_t end)
{
	const struct grid *grid = line->grid;
	size_t lines = 0, unused = 0;

	for (size_t i = 0; i < grid->column_count; i++) {
		size_t own = grid_column_is_shown(grid, i, first, end)
				     ? heading_lines(grid->columns[i].heading, line->widths[i], &unused)
				     : 0;

		lines = own > lines ? own : lines;
	}
	for (size_t at = 0; at < lines; at++) {
		for (size_t i = 0; i < grid->column_count; i++) {
			const char *heading = grid->columns[i].heading;
			CLEANUP_BUFFER struct buffer text = BUFFER(CELL_CEILING);
			size_t own = heading_lines(heading, line->widths[i], &unused);

			if (!grid_column_is_shown(grid, i, first, end))
				continue;
			for (size_t skip = own + at > lines ? own + at - lines : 0; skip; skip--)
				heading += heading_part(heading, line->widths[i]);
			if (own + at >= lines && *heading) {
				size_t part = heading_part(heading, line->widths[i]);

				buffer_add_text(&text, STYLE_STRONG);
				buffer_add(&text, heading, without_blank(heading, part));
				buffer_add_text(&text, STYLE_END);
			}
			add_padded(line, i, text.data ? text.data : "", text.length);
		}
		end_line(line);
	}
}

static void add_grid_table(struct line *line, size_t first, size_t end)
{
	if (*line->grid->columns[0].heading || line->grid->column_count > 1)
		add_headings(line, first, end);
	for (size_t row = 0; row < rows_of_grid(line->grid); row++) {
		for (size_t i = 0; i < line->grid->column_count; i++)
			if (grid_column_is_shown(line->grid, i, first, end))
				add_grid_cell(line, row, i);
		end_line(line);
	}
}

/* "system_" of "system_utime": columns of one group stand together. 0: a column without a group. */
static size_t group_length(const char *heading)
{
	size_t length = strcspn(heading, "_.");

	return heading[length] ? length + 1 : 0;
}

static bool same_group(const struct grid *grid, size_t a, size_t b)
{
	size_t length = group_length(grid->columns[a].heading);

	return length == group_length(grid->columns[b].heading) &&
	       strncmp(grid->columns[a].heading, grid->columns[b].heading, length) == 0;
}

/* Where the table that begins with a column ends. A group that does not fit behind another one begins a table of its own. */
static size_t end_of_table(const struct grid *grid, const size_t *widths, size_t first, size_t room)
{
	size_t end = first, all = 0, group = first;

	while (end < grid->column_count && (end == first || all + widths[end] <= room)) {
		if (!same_group(grid, group, end))
			group = end;
		all += widths[end] + GAP;
		end++;
	}
	return end < grid->column_count && group > first && same_group(grid, group, end) &&
			       group_length(grid->columns[group].heading)
		       ? group
		       : end;
}

void grid_print(const struct grid *grid, struct buffer *out, const struct screen *screen)
{
	CLEANUP_FREE size_t *widths = calloc(grid->column_count + 1, sizeof(*widths));
	struct line line = {grid, out, screen, widths, 0};
	size_t keys = 0, first = grid->keys;

	if (grid->failed || !widths) {
		buffer_add(out, "", SIZE_MAX / 2); /* past the ceiling: marks the buffer as failed */
		return;
	}
	find_grid_widths(grid, widths, screen->columns);
	for (size_t i = 0; i < grid->keys; i++)
		keys += widths[i] + GAP;
	do {
		size_t end = end_of_table(grid, widths, first,
					  screen->columns > keys ? screen->columns - keys : 0);

		if (first > grid->keys)
			buffer_add_char(out, '\n');
		add_grid_table(&line, first, end);
		first = end;
	} while (first < grid->column_count);
}
