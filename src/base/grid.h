/*
 * Rows of cells in aligned columns, fitted to a screen.
 *
 * If the columns are wider than the screen, the shrinking column is cut first. Columns that still find no room follow in
 * further tables below, and each of these begins with the key columns again:
 *
 *	phase  calls      time
 *	load       1    1.83 s
 *
 *	phase    memory
 *	load   93.4 MiB
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/screen.h"

struct grid_column {
	char *heading;
	bool right;   /* numbers */
	bool shrinks; /* names, which may be cut: at most one column */
};

struct grid {
	size_t keys; /* so many columns at the left stand in each table */
	struct grid_column *columns;
	size_t column_count;
	struct buffer *cells; /* row by row */
	size_t cell_count, cell_room;
	bool failed; /* out of memory */
};

/*
 * Where the screen is too narrow, a long heading has a second line, behind "_", "." or a blank. Headings that begin with the same
 * word and "_" or "." are a group, which begins a further table if it does not fit behind another one.
 */
void grid_add_column(struct grid *grid, const char *heading, bool right);
void grid_add_shrinking(struct grid *grid, const char *heading);
/* The next cell, row by row. The caller fills it: style marks take no room, foreign text must be printable. */
struct buffer *grid_cell(struct grid *grid);
void grid_add_cell(struct grid *grid, const char *text);
/* Appends all rows. Complete the last one before. Fails the buffer if memory ran out. */
void grid_print(const struct grid *grid, struct buffer *out, const struct screen *screen);
void grid_done(struct grid *grid);
#define CLEANUP_GRID __attribute__((cleanup(grid_done)))
