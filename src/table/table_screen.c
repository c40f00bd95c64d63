/* Writes tables and statistics for people, fitted to a terminal. See resource_tracker_analysis.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "table/stats.h"
#include "table/table.h"
#include "table/units.h"

enum { TEXT_CEILING = 1 << 30 };

static const char TIME_COLUMN[] = "timestamp";

static double real_of(struct rt_value cell)
{
	return cell.type == RT_TYPE_COUNT  ? (double)cell.count
	       : cell.type == RT_TYPE_REAL ? cell.real
					   : (double)NAN;
}

static void add_screen_cell(struct buffer *out, struct rt_value cell, const char *unit)
{
	double value = real_of(cell);

	if (cell.type == RT_TYPE_TEXT)
		buffer_add_printable(out, cell.text);
	else if (isnan(value))
		buffer_add_text(out, "-");
	else
		add_amount(out, value, unit);
}

static void add_utc(struct buffer *out, double secs, const char *format)
{
	time_t when = isfinite(secs) && fabs(secs) < 1e12 ? (time_t)floor(secs) : 0;
	struct tm utc;
	char text[64];

	if (gmtime_r(&when, &utc) && strftime(text, sizeof(text), format, &utc))
		buffer_add_text(out, text);
}

/* "18:21:53.49": the day stands above the table */
static void add_time_of_day(struct buffer *out, double secs)
{
	if (isnan(secs)) {
		buffer_add_char(out, '-');
		return;
	}
	secs = floor(secs * 100 + 0.5) / 100;
	add_utc(out, secs, "%H:%M:%S");
	buffer_printf(out, ".%02d", (int)((secs - floor(secs)) * 100 + 0.5));
}

/* ---- tables ------------------------------------------------------------------------------------------ */

/* A column without a single value above 0 tells a person nothing. */
static bool is_column_empty(const rt_table *table, size_t column)
{
	for (size_t row = 0; row < rt_table_row_count(table); row++) {
		struct rt_value cell = rt_table_get(table, column, row);

		if (cell.type == RT_TYPE_TEXT ? *cell.text != '\0'
					      : real_of(cell) != 0 && !isnan(real_of(cell)))
			return false;
	}
	return rt_table_row_count(table) > 0;
}

static bool is_time(const rt_table *table, size_t column)
{
	double least = 0;

	return strcmp(rt_table_column_name(table, column), TIME_COLUMN) == 0 &&
	       rt_table_real(table, column, 0, &least) && least > 1e6;
}

static bool has_texts(const rt_table *table, size_t column)
{
	for (size_t row = 0; row < rt_table_row_count(table); row++)
		if (rt_table_get(table, column, row).type == RT_TYPE_TEXT)
			return true;
	return false;
}

/* Tells what the table does not show. Nothing where all of it can be seen. */
static void add_sizes(struct buffer *out, const rt_table *table, size_t shown, size_t left_out)
{
	size_t rows = rt_table_row_count(table), columns = rt_table_column_count(table), times = 0;

	for (size_t i = 0; i < columns; i++)
		times += is_time(table, i);
	if (rows && columns && shown == rows && !left_out && !times)
		return;
	buffer_printf(out, "%zu row%s, %zu column%s", rows, rows == 1 ? "" : "s", columns,
		      columns == 1 ? "" : "s");
	if (shown < rows)
		buffer_printf(out, "; the first %zu %s shown (--rows 0 shows all)", shown,
			      shown == 1 ? "is" : "are");
	if (left_out)
		buffer_printf(out, "; %zu column%s without a value above 0 %s left out", left_out,
			      left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
	for (size_t i = 0; i < columns && rows; i++)
		if (is_time(table, i)) {
			buffer_add_text(out, "; times are UTC, on ");
			add_utc(out, real_of(rt_table_get(table, i, 0)), "%Y-%m-%d");
		}
	buffer_add_text(out, "\n");
}

static void fill_table_grid(struct grid *grid, const rt_table *table, const bool *left_out, size_t rows)
{
	size_t columns = rt_table_column_count(table);

	for (size_t i = 0; i < columns; i++) {
		CLEANUP_BUFFER struct buffer name = BUFFER(TEXT_CEILING);

		buffer_add_printable(&name, rt_table_column_name(table, i));
		if (!left_out[i])
			grid_add_column(grid, name.data ? name.data : "", !has_texts(table, i));
	}
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < columns; i++) {
			struct rt_value cell = rt_table_get(table, i, row);

			if (left_out[i])
				continue;
			if (is_time(table, i))
				add_time_of_day(grid_cell(grid), real_of(cell));
			else
				add_screen_cell(grid_cell(grid), cell,
						unit_of_column(rt_table_column_name(table, i)));
		}
}

int rt_table_for_screen(const rt_table *table, size_t rows, bool leave_out_empty, int fd, const char *colour,
			char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING), sizes = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {0};
	size_t all = rt_table_row_count(table), columns = rt_table_column_count(table), empty = 0;
	size_t shown = rows && rows < all ? rows : all;
	CLEANUP_FREE bool *left_out = calloc(columns + 1, sizeof(*left_out));
	struct screen screen;

	if (!left_out)
		return -ENOMEM;
	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	for (size_t i = 0; i < columns; i++) {
		left_out[i] = leave_out_empty && is_column_empty(table, i);
		empty += left_out[i];
	}
	add_sizes(&sizes, table, shown, empty);
	if (buffer_error(&sizes) < 0)
		return buffer_error(&sizes);
	screen_add(&out, sizes.data ? sizes.data : "", &screen, 0);
	/* The time stands in each part of a wide table. */
	grid.keys = columns > 1 && all && is_time(table, 0);
	fill_table_grid(&grid, table, left_out, shown);
	if (grid.column_count && out.length)
		buffer_add_char(&out, '\n');
	if (grid.column_count)
		grid_print(&grid, &out, &screen);
	return buffer_take_text(&out, ret_text);
}

/* ---- statistics -------------------------------------------------------------------------------------- */

/* Whether one of a column's figures is above 0; `i` is its first entry. */
static bool tells_something(const rt_stats *stats, size_t i)
{
	bool any = false;

	do {
		double value = real_of(stats->entries[i].value);

		any = any || (!isnan(value) && value != 0);
	} while (++i < stats->count && stats_same_column(stats, i));
	return any;
}

static bool is_first_of_name(const rt_stats *stats, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(stats->entries[j].name, stats->entries[i].name) == 0)
			return false;
	return true;
}

static void add_figure_cell(struct buffer *out, const struct stats_entry *entry)
{
	const char *unit = unit_of_column(entry->column);
	bool is_count = strcmp(entry->name, "len") == 0;

	if (strcmp(entry->column, TIME_COLUMN) == 0 && strcmp(entry->name, "duration") != 0 && !is_count) {
		add_utc(out, real_of(entry->value), "%Y-%m-%d %H:%M:%S");
		return;
	}
	add_screen_cell(out, entry->value, is_count ? "" : unit);
}

/* One row: an empty cell where the column does not have the figure. */
static void add_column_row(struct grid *grid, const rt_stats *stats, size_t first)
{
	buffer_add_printable(grid_cell(grid), stats->entries[first].column);
	for (size_t i = 0; i < stats->count; i++) {
		struct buffer *cell;

		if (!is_first_of_name(stats, i))
			continue;
		cell = grid_cell(grid);
		for (size_t j = first; j < stats->count && (j == first || stats_same_column(stats, j)); j++)
			if (strcmp(stats->entries[j].name, stats->entries[i].name) == 0)
				add_figure_cell(cell, &stats->entries[j]);
	}
}

int rt_stats_for_screen(const rt_stats *stats, bool leave_out_empty, int fd, const char *colour,
			char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING), note = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct screen screen;
	size_t empty = 0;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	grid_add_column(&grid, "column", false);
	for (size_t i = 0; i < stats->count; i++)
		if (is_first_of_name(stats, i))
			grid_add_column(&grid, stats->entries[i].name, true);
	for (size_t i = 0; i < stats->count; i++) {
		if (stats_same_column(stats, i))
			continue;
		if (leave_out_empty && !tells_something(stats, i))
			empty++;
		else
			add_column_row(&grid, stats, i);
	}
	grid_print(&grid, &out, &screen);
	if (empty) {
		buffer_printf(&note, "%zu column%s without a value above 0 %s left out (--json has all)\n",
			      empty, empty == 1 ? "" : "s", empty == 1 ? "is" : "are");
		screen_add(&out, buffer_error(&note) ? "" : note.data, &screen, 0);
	}
	return buffer_take_text(&out, ret_text);
}
