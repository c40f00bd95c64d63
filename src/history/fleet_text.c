/* Writes the figures of a fleet as a table for people. See fleet.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/units.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "history/fleet.h"
#include "recommend/replay.h"

enum {
	CELL_BYTES = 200,
	NARROW_NAME = 24,
	NARROWEST_NAME = 16,
	GAP = 2,
	LINE_BYTES = 64 << 10,
	NOTE_INDENT = 4
};

enum column {
	NAME,
	RUNS,
	FAILED,
	WALL,
	WALL_P95,
	CPU_P95,
	MEMORY_P95,
	MEMORY_MOST,
	CORE_HOURS,
	GIB_HOURS,
	COLUMNS
};

/* A narrow screen loses the columns with the highest number first. */
static const struct {
	const char *heading;
	int spare;
} HEADINGS[COLUMNS] = {
	[NAME] = {NULL, 0},
	[RUNS] = {"RUNS", 0},
	[FAILED] = {"FAILED", 0},
	[WALL] = {"WALL P50", 3},
	[WALL_P95] = {"WALL P95", 1},
	[CPU_P95] = {"CPU P95", 4},
	[MEMORY_P95] = {"MEM P95", 0},
	[MEMORY_MOST] = {"MEM MAX", 2},
	[CORE_HOURS] = {"CORE H", 0},
	[GIB_HOURS] = {"GIB H", 0},
};
enum { SPARE_MOST = 4 };

struct table_row {
	char cells[COLUMNS][CELL_BYTES];
};

static void put_figure(char *cell, double value, void (*add)(struct buffer *out, double value))
{
	CLEANUP_BUFFER struct buffer text = BUFFER(CELL_BYTES);

	if (isnan(value))
		buffer_add_char(&text, '-');
	else
		add(&text, value);
	snprintf(cell, CELL_BYTES, "%s", buffer_error(&text) ? "?" : text.data);
}

/* Long histories have many hours: "1234567" rather than three digits. */
static void add_hours(struct buffer *out, double hours)
{
	if (hours < 0.01)
		buffer_add_text(out, hours > 0 ? "<0.01" : "0");
	else if (hours >= 1000)
		buffer_printf(out, "%.0f", hours);
	else
		add_figure(out, hours);
}

/* "train (load)", "train (load, node-7)". A part that is absent stays away. */
static void put_group_name(char *cell, const struct fleet *fleet, const struct fleet_group *group)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(LINE_BYTES), part = BUFFER(LINE_BYTES);
	size_t told = 0;

	for (size_t i = 0; i < fleet->by_count; i++) {
		if (!fleet_part_text(group, i, &part) || buffer_error(&part) || !part.length)
			continue;
		buffer_add_text(&name, told == 0 ? "" : told == 1 ? " (" : ", ");
		buffer_add_printable(&name, part.data);
		told++;
	}
	if (told > 1)
		buffer_add_char(&name, ')');
	snprintf(cell, CELL_BYTES, "%s", buffer_error(&name) || !name.length ? "-" : name.data);
}

static void fill_group_row(struct table_row *row, const struct fleet *fleet, const struct fleet_group *group)
{
	char most[CELL_BYTES];

	put_group_name(row->cells[NAME], fleet, group);
	snprintf(row->cells[RUNS], CELL_BYTES, "%zu", group->runs);
	snprintf(row->cells[FAILED], CELL_BYTES, "%zu", group->ends[FLEET_FAILED]);
	put_figure(row->cells[WALL], group->wall_secs.p50, add_duration);
	put_figure(row->cells[WALL_P95], group->wall_secs.p95, add_duration);
	put_figure(row->cells[CPU_P95], group->cpu_secs.p95, add_duration);
	put_figure(row->cells[MEMORY_P95], group->memory_mib.p95, add_size_of_mib);
	put_figure(most, group->memory_mib.most, add_size_of_mib);
	snprintf(row->cells[MEMORY_MOST], CELL_BYTES, "%s%.180s", group->at_limit ? ">=" : "", most);
	put_figure(row->cells[CORE_HOURS], group->core_runs ? group->unused_core_hours : (double)NAN,
		   add_hours);
	put_figure(row->cells[GIB_HOURS], group->memory_runs ? group->unused_gib_hours : (double)NAN,
		   add_hours);
}

/* ---- lines below a row ------------------------------------------------------------------------------------- */

/* "3 out of memory, 1 exit 2" */
static void add_reasons(struct buffer *line, const struct fleet *fleet, const struct fleet_group *group)
{
	const char *before = "";

	for (size_t i = 0; i < fleet->reason_count; i++) {
		if (!group->reasons[i] || !*fleet->reasons[i])
			continue;
		buffer_printf(line, "%s%zu ", before, group->reasons[i]);
		buffer_add_printable(line, fleet->reasons[i]);
		before = ", ";
	}
}

/* "asked for 4 cores and 16 GiB", and what 95 % of the runs used at most */
static void add_request_note(struct buffer *line, const struct fleet_group *group)
{
	bool has_cores = !isnan(group->cores_asked) && !isnan(group->cores.p95);
	bool has_memory = !isnan(group->memory_asked_mib) && !isnan(group->memory_mib.p95);

	if (!has_cores && !has_memory)
		return;
	buffer_add_text(line, "asked for ");
	if (has_cores) {
		buffer_printf(line, "%g %s", group->cores_asked, group->cores_asked == 1 ? "core" : "cores");
	}
	buffer_add_text(line, has_cores && has_memory ? " and " : "");
	if (has_memory)
		add_size_of_mib(line, group->memory_asked_mib);
	buffer_add_text(line, "; 95 % of the runs used at most ");
	if (has_cores) {
		add_figure(line, group->cores.p95);
		buffer_add_text(line, " cores");
	}
	buffer_add_text(line, has_cores && has_memory ? " and " : "");
	if (has_memory)
		add_size_of_mib(line, group->memory_mib.p95);
}

static void add_drift_note(struct buffer *line, const char *subject, const struct fleet_drift *drift)
{
	if (drift->is_clear)
		buffer_printf(line, "%s %+.0f %%: the last %zu runs against %zu before them", subject,
			      100 * drift->change, drift->new_runs, drift->old_runs);
}

static void add_limit_note(struct buffer *line, const struct fleet_group *group)
{
	if (group->oom_had_mib > 0) {
		buffer_add_text(line, "out of memory with ");
		add_size_of_mib(line, group->oom_had_mib);
	}
	if (group->at_limit)
		buffer_printf(line, "%s%zu %s the memory limit", line->length ? "; " : "", group->at_limit,
			      group->at_limit == 1 ? "run reached" : "runs reached");
}

static void add_gpu_note(struct buffer *line, const struct fleet_group *group)
{
	if (!(group->unused_gpu_hours > 0))
		return;
	buffer_add_text(line, "GPUs had no work for ");
	add_hours(line, group->unused_gpu_hours);
	buffer_printf(line, " GPU hours of %zu run%s", group->gpu_runs, group->gpu_runs == 1 ? "" : "s");
}

static void end_note(struct buffer *out, struct buffer *line, const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer indented = BUFFER(LINE_BYTES);

	if (line->length && !buffer_error(line)) {
		buffer_printf(&indented, "%*s", NOTE_INDENT, "");
		buffer_add_text(&indented, line->data);
		buffer_add_char(&indented, '\n');
		screen_add(out, indented.data, screen, NOTE_INDENT + 2);
	}
	buffer_clear(line);
}

static void add_group_notes(struct buffer *out, const struct fleet *fleet, const struct fleet_group *group,
			    const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);

	add_reasons(&line, fleet, group);
	end_note(out, &line, screen);
	add_limit_note(&line, group);
	end_note(out, &line, screen);
	add_request_note(&line, group);
	end_note(out, &line, screen);
	add_gpu_note(&line, group);
	end_note(out, &line, screen);
	if (fleet->usd_per_gib_hour > 0 && group->memory_runs && group->unused_gib_hours > 0)
		buffer_printf(&line, "unused memory: %.4g USD",
			      group->unused_gib_hours * fleet->usd_per_gib_hour);
	end_note(out, &line, screen);
	add_drift_note(&line, "memory", &group->memory_drift);
	end_note(out, &line, screen);
	add_drift_note(&line, "wall time", &group->wall_drift);
	end_note(out, &line, screen);
}

/* ---- layout ---------------------------------------------------------------------------------------------------- */

/* In characters of UTF-8. */
static size_t cell_columns(const char *cell)
{
	size_t width = 0;

	for (; *cell; cell++)
		width += ((unsigned char)*cell & 0xc0) != 0x80;
	return width;
}

static void cut_cell(char *cell, size_t width)
{
	size_t seen = 0;

	if (cell_columns(cell) <= width)
		return;
	for (; *cell; cell++) {
		if (((unsigned char)*cell & 0xc0) == 0x80 || seen++ < width - 3)
			continue;
		snprintf(cell, 4, "...");
		return;
	}
}

static size_t all_widths(const size_t widths[static COLUMNS])
{
	size_t all = 0;

	for (int column = 0; column < COLUMNS; column++)
		all += widths[column] ? widths[column] + GAP : 0;
	return all - GAP;
}

/* Cuts the names, so that the table fits if that leaves them `least` columns. */
static void cut_names(size_t widths[static COLUMNS], size_t columns, size_t least)
{
	size_t all = all_widths(widths), others = all - widths[NAME];

	if (all > columns && widths[NAME] > least)
		widths[NAME] = others + least < columns ? columns - others : least;
}

/* Width 0: the column stays away. */
static void find_widths(struct table_row *rows, size_t count, size_t columns,
			size_t ret_widths[static COLUMNS])
{
	for (int column = 0; column < COLUMNS; column++) {
		ret_widths[column] = 0;
		for (size_t i = 0; i < count; i++) {
			size_t width = cell_columns(rows[i].cells[column]);

			ret_widths[column] = width > ret_widths[column] ? width : ret_widths[column];
		}
	}
	cut_names(ret_widths, columns, NARROW_NAME);
	for (int spare = SPARE_MOST; spare > 0; spare--)
		for (int column = 0; column < COLUMNS; column++)
			if (HEADINGS[column].spare == spare && all_widths(ret_widths) > columns)
				ret_widths[column] = 0;
	cut_names(ret_widths, columns, NARROWEST_NAME);
	for (size_t i = 0; i < count; i++)
		cut_cell(rows[i].cells[NAME], ret_widths[NAME]);
}

static void add_table_row(struct buffer *out, struct table_row *row, const size_t widths[static COLUMNS])
{
	buffer_add_text(out, row->cells[NAME]);
	for (size_t i = cell_columns(row->cells[NAME]); i < widths[NAME]; i++)
		buffer_add_char(out, ' ');
	for (int column = NAME + 1; column < COLUMNS; column++)
		if (widths[column])
			buffer_printf(out, "%*s", (int)widths[column] + GAP, row->cells[column]);
	buffer_add_char(out, '\n');
}

static void fill_heading(struct table_row *row, const struct fleet *fleet)
{
	static const char *const PARTS[] = {"JOB", "TASK", "HOST", "USER"};
	CLEANUP_BUFFER struct buffer name = BUFFER(LINE_BYTES);

	for (size_t i = 0; i < fleet->by_count; i++) {
		buffer_add_text(&name, i == 0 ? "" : i == 1 ? " (" : ", ");
		buffer_add_printable(&name, fleet->by[i].part == FLEET_TAG ? fleet->by[i].tag
									   : PARTS[fleet->by[i].part]);
	}
	buffer_add_text(&name, fleet->by_count > 1 ? ")" : "");
	snprintf(row->cells[NAME], CELL_BYTES, "%s", buffer_error(&name) ? "JOB" : name.data);
	for (int column = NAME + 1; column < COLUMNS; column++)
		snprintf(row->cells[column], CELL_BYTES, "%s", HEADINGS[column].heading);
}

void fleet_add_text(struct buffer *out, const struct fleet *fleet, size_t most, const struct screen *screen)
{
	size_t count = most && most < fleet->group_count ? most : fleet->group_count;
	CLEANUP_FREE struct table_row *rows = calloc(count + 1, sizeof(*rows));
	size_t widths[COLUMNS];

	if (!rows) {
		buffer_add_text(out, "out of memory\n");
		return;
	}
	fill_heading(&rows[0], fleet);
	for (size_t i = 0; i < count; i++)
		fill_group_row(&rows[i + 1], fleet, &fleet->groups[i]);
	find_widths(rows, count + 1, screen->columns, widths);
	add_table_row(out, &rows[0], widths);
	for (size_t i = 0; i < count; i++) {
		add_table_row(out, &rows[i + 1], widths);
		add_group_notes(out, fleet, &fleet->groups[i], screen);
	}
	if (count < fleet->group_count)
		buffer_printf(out, "%zu more rows: resource-tracker history -n 0\n",
			      fleet->group_count - count);
	if (fleet->saved) {
		CLEANUP_BUFFER struct buffer saving = BUFFER(LINE_BYTES);

		replay_add_saving(&saving, fleet->saved);
		screen_add(out, saving.data ? saving.data : "", screen, 2);
	}
}
