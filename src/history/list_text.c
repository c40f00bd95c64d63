/* Makes the table of runs; see list_text.h. */
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

static const char *text_of(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

/* NaN: unknown */
static double real_of(const json_t *line, const char *key)
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

static void put_name(char *cell, const json_t *line)
{
	const char *name = text_of(line, "name"), *task = text_of(line, "task"),
		   *folder = text_of(line, "folder");
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
	const char *outcome = text_of(line, "outcome");
	char name[SIGNAL_NAME_SIZE], *cell = row->cells[OUTCOME];

	outcome = outcome ? outcome : "?";
	row->bad = strcmp(outcome, "ok") != 0 && strcmp(outcome, "running") != 0 &&
		   strcmp(outcome, "stopped") != 0;
	if (strcmp(outcome, "failed") == 0)
		snprintf(cell, CELL_BYTES, "exit %.0f", real_of(line, "exit_code"));
	else if (strcmp(outcome, "killed") == 0)
		snprintf(cell, CELL_BYTES, "%s", signal_name((int)real_of(line, "signal"), name));
	else if (strcmp(outcome, "oom") == 0)
		snprintf(cell, CELL_BYTES, "out of memory");
	else if (strcmp(outcome, "lost") == 0)
		snprintf(cell, CELL_BYTES, "tracker killed");
	else
		snprintf(cell, CELL_BYTES, "%s", outcome);
}

static void put_duration(char *cell, double secs)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(CELL_BYTES);

	if (isnan(secs))
		buffer_add_char(&text, '-');
	else
		add_duration(&text, secs);
	set_cell(cell, &text);
}

static void put_memory(char *cell, double mib)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(CELL_BYTES);

	if (isnan(mib))
		buffer_add_char(&text, '-');
	else
		add_size(&text, mib * 1024 * 1024, RT_SIZE_AUTO);
	set_cell(cell, &text);
}

static void put_gpus(char *cell, const json_t *line)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(CELL_BYTES);

	if (real_of(line, "gpus") > 0 && !isnan(real_of(line, "gpu_mean")))
		add_figure(&text, real_of(line, "gpu_mean"));
	else
		buffer_add_char(&text, '-');
	set_cell(cell, &text);
}

/* Names come from recordings. */
static void clean_cell(char *cell)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(2 * CELL_BYTES);

	buffer_add_printable(&text, cell);
	set_cell(cell, &text);
}

static void fill_row(struct list_row *row, const json_t *line)
{
	snprintf(row->cells[NUMBER], CELL_BYTES, "%.0f", real_of(line, "number"));
	put_when(row->cells[WHEN], real_of(line, "started"));
	put_name(row->cells[NAME], line);
	put_outcome(row, line);
	put_duration(row->cells[WALL], real_of(line, "wall_secs"));
	put_duration(row->cells[CPU], real_of(line, "cpu_secs"));
	put_memory(row->cells[MEMORY], real_of(line, "memory_peak_mib"));
	put_gpus(row->cells[GPU], line);
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
		fill_row(&rows[i], lines[i]);
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
