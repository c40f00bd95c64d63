/* Writes regions in the layouts of gpu_tracker's analysis, JSON and text. See regions.h. */
#include <math.h>
#include <string.h>
#include <errno.h>
#include <stdlib.h>

#include "regions/regions.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "table/aggregate.h"
#include "table/table.h"
#include "base/grid.h"
#include "table/units.h"

enum { TEXT_CEILING = 64 << 20, CELL_DECIMALS = 8 };

static const char *const STATISTICS[] = {"min", "max", "mean", "std", "total"};

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void add_statistics(struct json_writer *json, const char *key, const double *values, size_t count)
{
	json_key(json, key);
	json_open(json, '{');
	for (size_t i = 0; i < count; i++)
		json_shortest_member(json, STATISTICS[i], values[i]);
	json_close(json, '}');
}

/* gpu_tracker's statistics have no total. */
static void add_measures(struct json_writer *json, const char *key, const rt_regions *regions,
			 double (*measures)[REGION_STATISTICS])
{
	json_key(json, key);
	json_open(json, '{');
	for (size_t i = 0; i < regions->measure_count; i++)
		add_statistics(json, regions->measures[i], measures[i],
			       regions->recorded ? REGION_STATISTICS : REGION_TOTAL);
	json_close(json, '}');
}

static void add_facts(struct json_writer *json, const rt_table *facts)
{
	json_key(json, "static_data");
	json_open(json, '{');
	for (size_t i = 0; i < rt_table_column_count(facts); i++) {
		CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

		cell_add_json(&text, rt_table_get(facts, i, 0));
		json_key(json, rt_table_column_name(facts, i));
		json_raw(json, text.data ? text.data : "null", text.data ? text.length : 4);
	}
	json_close(json, '}');
}

static void add_json_count(struct json_writer *json, const char *key, int64_t count)
{
	json_key(json, key);
	json_count(json, count);
}

int rt_regions_to_json(const rt_regions *regions, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	struct json_writer json = JSON_WRITER(&out);

	json_open(&json, '{');
	add_measures(&json, "overall", regions, regions->overall);
	add_facts(&json, regions->facts);
	json_key(&json, "code_block_results");
	json_open(&json, '[');
	for (size_t i = 0; i < regions->count; i++) {
		const struct region *region = &regions->list[i];

		json_open(&json, '{');
		json_key(&json, "name");
		json_text(&json, region->name);
		add_json_count(&json, "num_timepoints", region->timepoints);
		add_json_count(&json, "num_calls", region->calls);
		add_json_count(&json, "num_non_empty_calls", region->non_empty_calls);
		add_statistics(&json, "compute_time", region->seconds, REGION_STATISTICS);
		add_measures(&json, "resource_usage", regions, region->measures);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buffer_add_char(&out, '\n');
	return buffer_take_text(&out, ret_text);
}

/* ---- text ------------------------------------------------------------------------------------------- */

static void add_pandas_cell(struct buffer *out, double value)
{
	if (isnan(value))
		buffer_add_text(out, "NaN");
	else
		buffer_add_shortest(out, round_like_python(value, CELL_DECIMALS));
}

static size_t cell_width(double value)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	add_pandas_cell(&text, value);
	return text.length;
}

static void add_right(struct buffer *out, const char *text, size_t width)
{
	buffer_printf(out, " %*s", (int)width, text);
}

static void add_right_real(struct buffer *out, double value, size_t width)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	add_pandas_cell(&text, value);
	add_right(out, text.data, width);
}

/* Adds rows of statistics. Without labels there is a single row. */
static void add_pandas_table(struct buffer *out, const char *indent, char *const *labels, size_t rows,
			     size_t columns, const double (*values)[REGION_STATISTICS])
{
	size_t widths[REGION_STATISTICS], label_width = 0;

	for (size_t i = 0; labels && i < rows; i++)
		label_width = strlen(labels[i]) > label_width ? strlen(labels[i]) : label_width;
	buffer_printf(out, "%s%*s", indent, (int)label_width, "");
	for (size_t j = 0; j < columns; j++) {
		widths[j] = strlen(STATISTICS[j]) + 1;
		for (size_t i = 0; i < rows; i++) {
			size_t width = cell_width(values[i][j]);

			widths[j] = width > widths[j] ? width : widths[j];
		}
		add_right(out, STATISTICS[j], widths[j]);
	}
	buffer_add_char(out, '\n');
	for (size_t i = 0; i < rows; i++) {
		buffer_printf(out, "%s%-*s", indent, (int)label_width, labels ? labels[i] : "");
		for (size_t j = 0; j < columns; j++)
			add_right_real(out, values[i][j], widths[j]);
		buffer_add_char(out, '\n');
	}
}

static void add_fact_value(struct buffer *out, struct rt_value cell)
{
	if (cell.type == RT_TYPE_REAL) {
		add_pandas_cell(out, cell.real);
		return;
	}
	buffer_add_char(out, ' ');
	cell_add_text(out, cell);
}

static void add_facts_text(struct buffer *out, const rt_table *facts)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(1 << 20), values = BUFFER(1 << 20);

	for (size_t i = 0; i < rt_table_column_count(facts); i++) {
		CLEANUP_BUFFER struct buffer cell = BUFFER(1 << 16);
		const char *name = rt_table_column_name(facts, i);
		size_t width = strlen(name);

		add_fact_value(&cell, rt_table_get(facts, i, 0));
		width = cell.length > width ? cell.length : width;
		add_right(&names, name, width);
		add_right(&values, cell.data ? cell.data : "", width);
	}
	buffer_printf(out, "Static Data:\n\t%s\n\t%s\n", names.data ? names.data : "",
		      values.data ? values.data : "");
}

static void add_region_text(struct buffer *out, const rt_regions *regions, const struct region *region)
{
	buffer_add_text(out, "\tName:                ");
	buffer_add_printable(out, region->name);
	buffer_printf(out, "\n\tNum Timepoints:      %lld\n", (long long)region->timepoints);
	buffer_printf(out, "\tNum Calls:           %lld\n", (long long)region->calls);
	buffer_printf(out, "\tNum Non Empty Calls: %lld\n", (long long)region->non_empty_calls);
	buffer_add_text(out, "\tCompute Time:\n");
	add_pandas_table(out, "\t\t", NULL, 1, REGION_STATISTICS,
			 (const double(*)[REGION_STATISTICS]) & region->seconds);
	buffer_add_text(out, "\tResource Usage:\n");
	add_pandas_table(out, "\t\t", regions->measures, regions->measure_count, REGION_TOTAL,
			 (const double(*)[REGION_STATISTICS])region->measures);
	buffer_add_char(out, '\n');
}

int rt_regions_to_text(const rt_regions *regions, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	buffer_add_text(&out, "Overall:\n");
	add_pandas_table(&out, "\t", regions->measures, regions->measure_count, REGION_TOTAL,
			 (const double(*)[REGION_STATISTICS])regions->overall);
	add_facts_text(&out, regions->facts);
	buffer_add_text(&out, "Code Block Results:\n");
	for (size_t i = 0; i < regions->count; i++)
		add_region_text(&out, regions, &regions->list[i]);
	return buffer_take_text(&out, ret_text);
}

/* ---- on a screen ---------------------------------------------------------------------------------- */

static const double TELLING_FACTOR = 1.02;

/* The columns of the table for people, with their headings. A recording without a job shows the machine's figures. */
static const struct usual {
	const char *measure, *heading;
	int statistic; /* of enum region_statistic */
	bool of_machine;
} USUAL[] = {
	{"process_cpu_usage", "cores mean", REGION_MEAN, false},
	{"process_cpu_usage", "cores max", REGION_MAX, false},
	{"process_memory_mib", "largest sample", REGION_MAX, false},
	{"process_disk_read_bytes", "read", REGION_TOTAL, false},
	{"process_disk_write_bytes", "written", REGION_TOTAL, false},
	{"process_gpu_usage", "GPUs mean", REGION_MEAN, false},
	{"process_gpu_vram_mib", "VRAM max", REGION_MAX, false},
	{"system_cpu_usage", "cores mean", REGION_MEAN, true},
	{"system_memory_used_mib", "largest sample", REGION_MAX, true},
	{"system_disk_read_bytes", "read", REGION_TOTAL, true},
	{"system_disk_write_bytes", "written", REGION_TOTAL, true},
	{"system_net_recv_bytes", "received", REGION_TOTAL, true},
	{"system_net_sent_bytes", "sent", REGION_TOTAL, true},
};

/* A column of the table. */
struct shown {
	const char *heading;
	char *owned; /* the heading, if it was composed */
	size_t measure;
	int statistic;
};

struct shown_list {
	struct shown *list;
	size_t count;
};

static void shown_done(struct shown_list *shown)
{
	for (size_t i = 0; i < shown->count; i++)
		free(shown->list[i].owned);
	free(shown->list);
}

static size_t find_measure(const rt_regions *regions, const char *name)
{
	size_t i = 0;

	while (i < regions->measure_count && strcmp(regions->measures[i], name) != 0)
		i++;
	return i;
}

static bool has_usual(const rt_regions *regions)
{
	return find_measure(regions, USUAL[0].measure) < regions->measure_count &&
	       find_measure(regions, "system_net_sent_bytes") < regions->measure_count;
}

/* A measure that is 0 or unknown over the whole run, such as those of GPUs on most machines. */
static bool is_empty_measure(const rt_regions *regions, size_t measure)
{
	double most = regions->overall[measure][REGION_MAX];

	return isnan(most) || most == 0;
}

static void show_usual(const rt_regions *regions, struct shown_list *shown)
{
	for (size_t i = 0; i < ARRAY_SIZE(USUAL); i++) {
		size_t measure = find_measure(regions, USUAL[i].measure);

		if (USUAL[i].of_machine != regions->of_machine || measure == regions->measure_count ||
		    is_empty_measure(regions, measure))
			continue;
		shown->list[shown->count++] =
			(struct shown){USUAL[i].heading, NULL, measure, USUAL[i].statistic};
	}
}

/* Mean and maximum of each measure that the user named. */
static int show_named(const rt_regions *regions, struct shown_list *shown)
{
	static const struct {
		enum region_statistic statistic;
		const char *word;
	} BOTH[] = {{REGION_MEAN, "mean"}, {REGION_MAX, "max"}};

	for (size_t i = 0; i < regions->measure_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(BOTH); j++) {
			CLEANUP_BUFFER struct buffer heading = BUFFER(1 << 16);
			struct shown *one = &shown->list[shown->count];

			buffer_add_printable(&heading, regions->measures[i]);
			buffer_printf(&heading, " %s", BOTH[j].word);
			one->owned = buffer_error(&heading) ? NULL : strdup(heading.data);
			if (!one->owned)
				return -ENOMEM;
			one->heading = one->owned;
			one->measure = i;
			one->statistic = (int)BOTH[j].statistic;
			shown->count++;
		}
	return 0;
}

/* Phases that began together stay in the order of the list. */
static int by_region_time(const void *a, const void *b)
{
	const struct region *const *left = a, *const *right = b;
	int order = ((*left)->began > (*right)->began) - ((*left)->began < (*right)->began);

	return order ? order : (int)(*left - *right);
}

/* The usual headings name the cores and GPUs. */
static const char *unit_of(const rt_regions *regions, const struct shown *one)
{
	const char *unit = unit_of_column(regions->measures[one->measure]);

	return !one->owned && (strcmp(unit, "cores") == 0 || strcmp(unit, "GPUs") == 0) ? "" : unit;
}

static void add_shown_measures(struct grid *grid, const rt_regions *regions, const struct shown_list *shown,
			       double (*measures)[REGION_STATISTICS])
{
	for (size_t i = 0; i < shown->count; i++) {
		const struct shown *one = &shown->list[i];
		double value = measures[one->measure][one->statistic];

		if (isnan(value))
			grid_add_cell(grid, "-");
		else
			add_amount(grid_cell(grid), value, unit_of(regions, one));
	}
}

static double run_secs(const rt_regions *regions)
{
	return regions->latest - regions->earliest;
}

static void add_shown_region(struct grid *grid, const rt_regions *regions, const struct shown_list *shown,
			     const struct region *region)
{
	double secs = region->seconds[REGION_TOTAL], run = run_secs(regions);

	buffer_add_printable(grid_cell(grid), region->name);
	buffer_printf(grid_cell(grid), "%lld", (long long)region->calls);
	add_duration(grid_cell(grid), secs);
	if (run > 0)
		buffer_printf(grid_cell(grid), "%.0f %%", secs / run * 100);
	else
		grid_add_cell(grid, "-");
	add_shown_measures(grid, regions, shown, region->measures);
}

/* The whole run, below its phases. */
static void add_shown_regions(struct grid *grid, const rt_regions *regions, const struct shown_list *shown)
{
	buffer_add_text(grid_cell(grid), STYLE_FAINT "whole run" STYLE_END);
	grid_add_cell(grid, "");
	if (run_secs(regions) > 0)
		add_duration(grid_cell(grid), run_secs(regions));
	else
		grid_add_cell(grid, "-");
	grid_add_cell(grid, "");
	add_shown_measures(grid, regions, shown, regions->overall);
}

static void add_region_notes(struct buffer *out, const rt_regions *regions, const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer notes = BUFFER(1 << 16);
	size_t without = 0;

	for (size_t i = 0; i < regions->count; i++)
		without += regions->list[i].timepoints == 0;
	if (!regions->count)
		buffer_add_text(
			&notes,
			regions->marked
				? "no phase lies in the time of the samples, though some were marked\n"
				: "no phase was marked: the job writes marks with resource-tracker mark\n");
	if (without)
		buffer_printf(&notes,
			      "%zu phase%s no sample's time stamp: cores and bytes are %s share of longer "
			      "samples; a "
			      "shorter --interval measures %s\n",
			      without, without == 1 ? " has" : "s have", without == 1 ? "its" : "their",
			      without == 1 ? "it" : "them");
	if (regions->peak_mib > TELLING_FACTOR * regions->sampled_mib) {
		buffer_add_text(&notes, "the run's memory peak of ");
		add_size(&notes, regions->peak_mib * 1048576, RT_SIZE_AUTO);
		buffer_add_text(&notes, " is above the largest sample: no sample was taken then\n");
	}
	if (regions->phases.open_calls)
		buffer_printf(
			&notes, "%zu call%s never stopped: the end of the recording counts as the end\n",
			regions->phases.open_calls, regions->phases.open_calls == 1 ? " was" : "s were");
	if (regions->phases.unmatched_stops)
		buffer_printf(&notes, "%zu stop%s without a start\n", regions->phases.unmatched_stops,
			      regions->phases.unmatched_stops == 1 ? "" : "s");
	if (regions->phases.bad_lines)
		buffer_printf(&notes, "%zu line%s of the marks cannot be read\n", regions->phases.bad_lines,
			      regions->phases.bad_lines == 1 ? "" : "s");
	if (notes.length && !buffer_error(&notes)) {
		buffer_add_char(out, '\n');
		screen_add(out, notes.data, screen, 0);
	}
}

static int fill_regions(struct grid *grid, const rt_regions *regions, const struct shown_list *shown)
{
	static const char *const FIXED[] = {"calls", "time", "of run"};
	CLEANUP_FREE const struct region **sorted = calloc(regions->count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	grid_add_shrinking(grid, "phase");
	for (size_t i = 0; i < ARRAY_SIZE(FIXED); i++)
		grid_add_column(grid, FIXED[i], true);
	for (size_t i = 0; i < shown->count; i++)
		grid_add_column(grid, shown->list[i].heading, true);
	for (size_t i = 0; i < regions->count; i++)
		sorted[i] = &regions->list[i];
	qsort(sorted, regions->count, sizeof(*sorted), by_region_time);
	for (size_t i = 0; i < regions->count; i++)
		add_shown_region(grid, regions, shown, sorted[i]);
	add_shown_regions(grid, regions, shown);
	return 0;
}

int rt_regions_for_screen(const rt_regions *regions, int fd, const char *colour, char **ret_text)
{
	__attribute__((cleanup(shown_done))) struct shown_list shown = {
		.list = calloc(2 * regions->measure_count + ARRAY_SIZE(USUAL), sizeof(struct shown))};
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct screen screen;
	int result = 0;

	if (!shown.list)
		return -ENOMEM;
	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	if (has_usual(regions))
		show_usual(regions, &shown);
	else
		result = show_named(regions, &shown);
	if (result == 0)
		result = fill_regions(&grid, regions, &shown);
	if (result < 0)
		return result;
	grid_print(&grid, &out, &screen);
	add_region_notes(&out, regions, &screen);
	return buffer_take_text(&out, ret_text);
}
