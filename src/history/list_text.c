/* Makes the table of runs. See list_text.h. */
#include "history/list_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table/units.h"
#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "base/signal_names.h"
#include "history/line_secs.h"

enum { CELL_BYTES = 400 };

enum column { NUMBER, WHEN, NAME, OUTCOME, WALL, CPU, MEMORY, GPU, COLUMNS };

static const struct {
	const char *heading;
	bool right;
} HEADINGS[COLUMNS] = {
	[NUMBER] = {"RUN", true},       [WHEN] = {"STARTED", false}, [NAME] = {"NAME (FOLDER)", false},
	[OUTCOME] = {"OUTCOME", false}, [WALL] = {"WALL", true},     [CPU] = {"CPU", true},
	[MEMORY] = {"MEMORY", true},    [GPU] = {"GPUS", true},
};

struct list_row {
	char cells[COLUMNS][CELL_BYTES];
	bool bad;
};

static const char *line_text(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

/* NaN: unknown */
static double line_real(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* ---- cells ------------------------------------------------------------------------------------------- */

static void set_cell(char *cell, const struct buffer *text)
{
	snprintf(cell, CELL_BYTES, "%s", buffer_error(text) || !text->data ? "?" : text->data);
}

static void put_when(char *cell, double started)
{
	time_t then = isnan(started) ? 0 : (time_t)started, now = time(NULL);
	enum { HALF_A_YEAR_SECS = 183 * 24 * 3600 };
	bool is_near = then <= now && now - then < HALF_A_YEAR_SECS;
	struct tm when;

	if (isnan(started) || !localtime_r(&then, &when) ||
	    !strftime(cell, CELL_BYTES, is_near ? "%b %d %H:%M" : "%Y-%m-%d", &when))
		snprintf(cell, CELL_BYTES, "?");
}

static void put_run_name(char *cell, const json_t *line)
{
	const char *name = line_text(line, "name"), *task = line_text(line, "task"),
		   *folder = line_text(line, "folder");
	CLEANUP_BUFFER struct buffer text = BUFFER(4 * CELL_BYTES);

	buffer_add_text(&text, name ? name : "?");
	if (task)
		buffer_printf(&text, " %s", task);
	/* The name of a run without a script has its folder already. */
	if (folder && !(name && strchr(name, '(')))
		buffer_printf(&text, " (%s)", folder);
	set_cell(cell, &text);
}

/* "ok", "exit 3", "SIGSEGV", "out of memory", "no end" */
static void put_outcome(struct list_row *row, const json_t *line)
{
	const char *outcome = line_text(line, "outcome");
	char name[SIGNAL_NAME_SIZE], *cell = row->cells[OUTCOME];

	outcome = outcome ? outcome : "?";
	row->bad = strcmp(outcome, "ok") != 0 && strcmp(outcome, "running") != 0 &&
		   strcmp(outcome, "stopped") != 0;
	if (strcmp(outcome, "failed") == 0)
		snprintf(cell, CELL_BYTES, "exit %.0f", line_real(line, "exit_code"));
	else if (strcmp(outcome, "killed") == 0)
		snprintf(cell, CELL_BYTES, "%s", signal_name((int)line_real(line, "signal"), name));
	else if (strcmp(outcome, "oom") == 0)
		snprintf(cell, CELL_BYTES, "out of memory");
	else if (strcmp(outcome, "lost") == 0)
		snprintf(cell, CELL_BYTES, "tracker killed");
	else
		snprintf(cell, CELL_BYTES, "%s", outcome);
}

static void put_amount(char *cell, double value, void (*add)(struct buffer *out, double value))
{
	CLEANUP_BUFFER struct buffer text = BUFFER(CELL_BYTES);

	if (isnan(value))
		buffer_add_char(&text, '-');
	else
		add(&text, value);
	set_cell(cell, &text);
}

/* Names come from recordings. */
static void clean_cell(char *cell)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(2 * CELL_BYTES);

	buffer_add_printable(&text, cell);
	set_cell(cell, &text);
}

static void fill_list_row(struct list_row *row, const json_t *line)
{
	snprintf(row->cells[NUMBER], CELL_BYTES, "%.0f", line_real(line, "number"));
	put_when(row->cells[WHEN], line_real(line, "started"));
	put_run_name(row->cells[NAME], line);
	put_outcome(row, line);
	put_amount(row->cells[WALL], line_whole_secs(line), add_duration);
	put_amount(row->cells[CPU], line_real(line, "cpu_secs"), add_duration);
	put_amount(row->cells[MEMORY], line_real(line, "memory_peak_mib"), add_size_of_mib);
	put_amount(row->cells[GPU], line_real(line, "gpus") > 0 ? line_real(line, "gpu_mean") : (double)NAN,
		   add_figure);
	clean_cell(row->cells[NAME]);
	clean_cell(row->cells[OUTCOME]);
}

/* ---- layout ------------------------------------------------------------------------------------------ */

/* Most machines have no GPU. */
static bool has_gpu(const struct list_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].cells[GPU], "-") != 0)
			return true;
	return false;
}

void run_list_add_text(struct buffer *out, const json_t *const *lines, size_t count,
		       const struct screen *screen)
{
	CLEANUP_FREE struct list_row *rows = calloc(count + 1, sizeof(*rows));
	CLEANUP_GRID struct grid grid = {.keys = COLUMNS};
	int columns = COLUMNS;

	if (!rows) {
		buffer_add_text(out, "out of memory\n");
		return;
	}
	for (size_t i = 0; i < count; i++)
		fill_list_row(&rows[i], lines[i]);
	if (!has_gpu(rows, count))
		grid.keys = (size_t)(columns = GPU);
	for (int column = 0; column < columns; column++) {
		if (column == NAME)
			grid_add_shrinking(&grid, HEADINGS[column].heading);
		else
			grid_add_column(&grid, HEADINGS[column].heading, HEADINGS[column].right);
	}
	for (size_t i = 0; i < count; i++)
		for (int column = 0; column < columns; column++) {
			bool is_bad = column == OUTCOME && rows[i].bad;

			buffer_printf(grid_cell(&grid), "%s%s%s", is_bad ? STYLE_BAD : "",
				      rows[i].cells[column], is_bad ? STYLE_END : "");
		}
	grid_print(&grid, out, screen);
}
