/* Reads tables from CSV and from recordings. See resource_tracker_analysis.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/csv_cells.h"
#include "format/csv_layout.h"
#include "record/odd_text.h"
#include "record/source.h"
#include "table/table.h"

static void cleanup_source(struct source *source)
{
	source_close(source);
}
#define CLEANUP_SOURCE __attribute__((cleanup(cleanup_source)))

struct rt_value cell_of_number(struct scan text)
{
	struct scan rest = text;
	int64_t count;
	double real;

	(void)(scan_left(&rest) > 1 && scan_literal(&rest, "+"));
	if (scan_left(&rest) && scan_i64(&rest, &count) && !scan_left(&rest))
		return (struct rt_value){.type = RT_TYPE_COUNT, .count = count};
	rest = text;
	if (scan_left(&rest) && scan_real(&rest, &real) && !scan_left(&rest))
		return (struct rt_value){.type = RT_TYPE_REAL, .real = real};
	return (struct rt_value){0};
}

/* Types a cell as Python would: an integer, else a real number (also "nan" and "inf"), else text. */
static struct rt_value typed_cell(struct scan text, const char *whole)
{
	struct scan trimmed = scan_trim(text);
	struct rt_value number = cell_of_number(trimmed);

	if (number.type != RT_TYPE_NONE)
		return number;
	if (scan_is(&trimmed, "nan") || scan_is(&trimmed, "NaN"))
		return (struct rt_value){.type = RT_TYPE_REAL, .real = NAN};
	if (scan_is(&trimmed, "inf") || scan_is(&trimmed, "-inf"))
		return (struct rt_value){.type = RT_TYPE_REAL,
					 .real = *trimmed.at == '-' ? -INFINITY : INFINITY};
	return (struct rt_value){.type = RT_TYPE_TEXT, .text = whole};
}

/* Joins lines while a quote is open, because a text may contain line ends. */
static int next_record(struct source *source, struct buffer *row)
{
	struct source_line line;
	size_t quotes = 0;
	int result;

	buffer_clear(row);
	while ((result = source_next_line(source, &line)) > 0) {
		if (line.too_long)
			return -EFBIG;
		if (row->length)
			buffer_add_char(row, '\n');
		buffer_add(row, line.text.at, scan_left(&line.text));
		for (const char *at = line.text.at; at < line.text.end; at++)
			quotes += *at == '"';
		if (quotes % 2 == 0 || buffer_error(row))
			break;
	}
	return buffer_error(row) ? buffer_error(row) : result < 0 ? result : result > 0 || row->length;
}

static int add_csv_names(rt_table *table, struct scan line, struct rt_problem *problem, const char *path)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	CLEANUP_BUFFER struct buffer name = BUFFER(1 << 20);
	struct cell_text cell;
	int result = refuse_odd_text(line, path, problem);

	if (result < 0)
		return result;
	while ((result = cells_next(&cells, &cell)) > 0) {
		ssize_t added;

		buffer_clear(&name);
		buffer_add(&name, cell.text.at, scan_left(&cell.text));
		added = buffer_error(&name) ? buffer_error(&name) : rt_table_add_column(table, name.data);
		if (added == -EEXIST)
			return problem_set(problem, -EBADMSG, "%s:1: the column '%s' is there twice", path,
					   name.data);
		if (added < 0)
			return (int)added;
	}
	return result < 0 ? problem_set(problem, result, "%s:1: a quote is not closed", path) : 0;
}

static int add_cells(rt_table *table, struct scan line, struct rt_problem *problem,
		     const struct source *source)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 20);
	ssize_t row = rt_table_add_row(table);
	struct cell_text cell;
	size_t column = 0;
	int result;

	if (row < 0)
		return (int)row;
	while ((result = cells_next(&cells, &cell)) > 0) {
		if (column >= rt_table_column_count(table))
			return problem_set(problem, -EBADMSG,
					   "%s:%lld: more cells than the %zu names of the first line",
					   source->path, (long long)source->line_number, column);
		buffer_clear(&text);
		buffer_add(&text, cell.text.at, scan_left(&cell.text));
		if (buffer_error(&text))
			return buffer_error(&text);
		result = rt_table_set(table, column++, (size_t)row, typed_cell(cell.text, text.data));
		if (result < 0)
			return result;
	}
	return result < 0 ? problem_set(problem, result, "%s:%lld: a quote is not closed", source->path,
					(long long)source->line_number)
			  : 0;
}

int rt_table_read_csv(const char *path, rt_table **ret_table, struct rt_problem *ret_problem)
{
	CLEANUP_SOURCE struct source source = {.fd = -1};
	CLEANUP_BUFFER struct buffer row = BUFFER(SOURCE_LINE_BYTES);
	CLEANUP_TABLE rt_table *table = rt_table_new();
	int result = table ? source_open(&source, path, ret_problem) : -ENOMEM;

	while (result >= 0 && (result = next_record(&source, &row)) > 0) {
		struct scan line = scan_bytes(row.data ? row.data : "", row.length);

		if (rt_table_column_count(table)) {
			if (scan_left(&line))
				result = add_cells(table, line, ret_problem, &source);
		} else {
			result = add_csv_names(table, line, ret_problem, path);
		}
	}
	if (result < 0) {
		if (ret_problem && !ret_problem->text[0])
			problem_set(ret_problem, result, "%s: %s", path, strerror(-result));
		return result;
	}
	*ret_table = table;
	table = NULL;
	return 0;
}

static int add_record_columns(rt_table *table, const char *const *columns, size_t count)
{
	ssize_t result = 0;

	for (size_t i = 0; i < count && result >= 0; i++)
		result = rt_table_add_column(table, columns[i]);
	return result == -EEXIST ? -EINVAL : result < 0 ? (int)result : 0;
}

/* Adds all samples of the file's last run: a new run drops the samples of the run before. */
static int add_record_samples(rt_table **table, rt_record *record, const char *const *columns, size_t count,
			      struct rt_problem *problem)
{
	struct rt_record_info info = {.size = sizeof(info)};
	size_t run = 1;
	int result;

	while ((result = rt_record_next(record, problem)) > 0) {
		ssize_t row;

		(void)rt_record_get_info(record, &info);
		if (info.run != run) {
			run = info.run;
			rt_table_free(*table);
			*table = rt_table_new();
			result = *table ? add_record_columns(*table, columns, count) : -ENOMEM;
			if (result < 0)
				return result;
		}
		row = rt_table_add_row(*table);
		if (row < 0)
			return (int)row;
		for (size_t i = 0; i < count; i++) {
			result = rt_table_set(*table, i, (size_t)row, rt_record_get(record, i));
			if (result < 0)
				return result;
		}
	}
	return result;
}

int rt_table_read_record(const char *const *paths, size_t path_count, const char *const *columns,
			 size_t column_count, rt_table **ret_table, struct rt_problem *ret_problem)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];
	CLEANUP_SAMPLES rt_record *record = NULL;
	CLEANUP_TABLE rt_table *table = rt_table_new();
	CLEANUP_FREE const char **headings = NULL;
	int result;

	if (!column_count) {
		headings = calloc(combined->column_count, sizeof(*headings));
		for (; headings && column_count < combined->column_count; column_count++)
			headings[column_count] = combined->columns[column_count].heading;
		columns = headings;
	}
	if (!table || !columns)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	result = add_record_columns(table, columns, column_count);
	if (result < 0)
		return problem_set(ret_problem, result, "a column was named twice");
	result = rt_record_open(paths, path_count, columns, column_count, &record, ret_problem);
	if (result == 0)
		result = add_record_samples(&table, record, columns, column_count, ret_problem);
	if (result < 0)
		return result;
	*ret_table = table;
	table = NULL;
	return 0;
}
