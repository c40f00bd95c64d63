/* Writes regions in the layouts of gpu_tracker's analysis, JSON and text; see regions.h. */
#include <math.h>
#include <string.h>

#include "regions/regions.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "table/aggregate.h"
#include "table/table.h"

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

static void add_count(struct json_writer *json, const char *key, int64_t count)
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
		add_count(&json, "num_timepoints", region->timepoints);
		add_count(&json, "num_calls", region->calls);
		add_count(&json, "num_non_empty_calls", region->non_empty_calls);
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

static void add_cell(struct buffer *out, double value)
{
	if (isnan(value))
		buffer_add_text(out, "NaN");
	else
		buffer_add_shortest(out, round_like_python(value, CELL_DECIMALS));
}

static size_t cell_width(double value)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	add_cell(&text, value);
	return text.length;
}

static void add_right(struct buffer *out, const char *text, size_t width)
{
	buffer_printf(out, " %*s", (int)width, text);
}

static void add_right_real(struct buffer *out, double value, size_t width)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	add_cell(&text, value);
	add_right(out, text.data, width);
}

/* Adds rows of statistics; without labels there is a single row. */
static void add_table(struct buffer *out, const char *indent, char *const *labels, size_t rows,
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

static void add_fact(struct buffer *out, struct rt_value cell)
{
	if (cell.type == RT_TYPE_REAL) {
		add_cell(out, cell.real);
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

		add_fact(&cell, rt_table_get(facts, i, 0));
		width = cell.length > width ? cell.length : width;
		add_right(&names, name, width);
		add_right(&values, cell.data ? cell.data : "", width);
	}
	buffer_printf(out, "Static Data:\n\t%s\n\t%s\n", names.data ? names.data : "",
		      values.data ? values.data : "");
}

static void add_region(struct buffer *out, const rt_regions *regions, const struct region *region)
{
	buffer_add_text(out, "\tName:                ");
	buffer_add_printable(out, region->name);
	buffer_printf(out, "\n\tNum Timepoints:      %lld\n", (long long)region->timepoints);
	buffer_printf(out, "\tNum Calls:           %lld\n", (long long)region->calls);
	buffer_printf(out, "\tNum Non Empty Calls: %lld\n", (long long)region->non_empty_calls);
	buffer_add_text(out, "\tCompute Time:\n");
	add_table(out, "\t\t", NULL, 1, REGION_STATISTICS,
		  (const double(*)[REGION_STATISTICS]) & region->seconds);
	buffer_add_text(out, "\tResource Usage:\n");
	add_table(out, "\t\t", regions->measures, regions->measure_count, REGION_TOTAL,
		  (const double(*)[REGION_STATISTICS])region->measures);
	buffer_add_char(out, '\n');
}

int rt_regions_to_text(const rt_regions *regions, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	buffer_add_text(&out, "Overall:\n");
	add_table(&out, "\t", regions->measures, regions->measure_count, REGION_TOTAL,
		  (const double(*)[REGION_STATISTICS])regions->overall);
	add_facts_text(&out, regions->facts);
	buffer_add_text(&out, "Code Block Results:\n");
	for (size_t i = 0; i < regions->count; i++)
		add_region(&out, regions, &regions->list[i]);
	return buffer_take_text(&out, ret_text);
}
