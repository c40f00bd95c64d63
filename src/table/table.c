/* A table of named columns. See resource_tracker_analysis.h. */
#include "table/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { TEXT_CHUNK_BYTES = 64 << 10, FIRST_ROWS = 64 };

struct text_chunk {
	struct text_chunk *next;
	size_t used, size;
	char bytes[];
};

/* A value in 16 bytes: tables of a long run have millions. */
struct cell {
	int type; /* enum rt_type */
	int reason;
	union {
		double real;
		int64_t count;
		const char *text;
	};
};

struct column {
	char *name;
	struct cell *cells;
};

struct rt_table {
	struct column *columns;
	size_t column_count;
	size_t row_count, row_capacity;
	struct text_chunk *texts;
};

rt_table *rt_table_new(void)
{
	return calloc(1, sizeof(rt_table));
}

void rt_table_free(rt_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].cells);
	}
	for (struct text_chunk *chunk = table->texts, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(table->columns);
	free(table);
}

size_t rt_table_row_count(const rt_table *table)
{
	return table->column_count ? table->row_count : 0;
}

size_t rt_table_column_count(const rt_table *table)
{
	return table->column_count;
}

const char *rt_table_column_name(const rt_table *table, size_t column)
{
	return column < table->column_count ? table->columns[column].name : NULL;
}

ssize_t rt_table_find(const rt_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (ssize_t)i;
	return -ENOENT;
}

ssize_t rt_table_add_column(rt_table *table, const char *name)
{
	struct column *columns, column = {0};

	if (rt_table_find(table, name) >= 0)
		return -EEXIST;
	columns = realloc(table->columns, (table->column_count + 1) * sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	table->columns = columns;
	column.name = strdup(name);
	if (table->row_capacity)
		column.cells = calloc(table->row_capacity, sizeof(*column.cells));
	if (!column.name || (table->row_capacity && !column.cells)) {
		free(column.name);
		free(column.cells);
		return -ENOMEM;
	}
	columns[table->column_count] = column;
	return (ssize_t)table->column_count++;
}

static int reserve_rows(rt_table *table, size_t rows)
{
	size_t capacity = table->row_capacity ? table->row_capacity : FIRST_ROWS;

	if (rows <= table->row_capacity)
		return 0;
	while (capacity < rows)
		capacity *= 2;
	for (size_t i = 0; i < table->column_count; i++) {
		struct cell *cells = realloc(table->columns[i].cells, capacity * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		table->columns[i].cells = cells;
	}
	table->row_capacity = capacity;
	return 0;
}

ssize_t rt_table_add_row(rt_table *table)
{
	if (reserve_rows(table, table->row_count + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].cells[table->row_count] = (struct cell){0};
	return (ssize_t)table->row_count++;
}

static const char *keep_table_text(rt_table *table, const char *text)
{
	size_t size = strlen(text) + 1;
	struct text_chunk *chunk = table->texts;
	char *copy;

	if (!chunk || chunk->size - chunk->used < size) {
		size_t wanted = size > TEXT_CHUNK_BYTES ? size : TEXT_CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + wanted);
		if (!chunk)
			return NULL;
		*chunk = (struct text_chunk){.next = table->texts, .size = wanted};
		table->texts = chunk;
	}
	copy = chunk->bytes + chunk->used;
	memcpy(copy, text, size);
	chunk->used += size;
	return copy;
}

int rt_table_set(rt_table *table, size_t column, size_t row, struct rt_value cell)
{
	struct cell packed;

	if (column >= table->column_count || row >= table->row_count)
		return -ENOENT;
	packed = (struct cell){.type = (int)cell.type, .reason = cell.reason, .count = cell.count};
	if (cell.type == RT_TYPE_REAL)
		packed.real = cell.real;
	if (cell.type == RT_TYPE_TEXT) {
		packed.text = keep_table_text(table, cell.text);
		if (!packed.text)
			return -ENOMEM;
	}
	table->columns[column].cells[row] = packed;
	return 0;
}

struct rt_value rt_table_get(const rt_table *table, size_t column, size_t row)
{
	struct rt_value value = {.type = RT_TYPE_NONE};
	const struct cell *cell;

	if (column >= table->column_count || row >= table->row_count)
		return value;
	cell = &table->columns[column].cells[row];
	value.type = (enum rt_type)cell->type;
	value.reason = cell->reason;
	if (value.type == RT_TYPE_REAL)
		value.real = cell->real;
	else if (value.type == RT_TYPE_TEXT)
		value.text = cell->text;
	else
		value.count = cell->count;
	return value;
}

bool rt_table_real(const rt_table *table, size_t column, size_t row, double *ret_value)
{
	struct rt_value cell = rt_table_get(table, column, row);

	if (cell.type == RT_TYPE_REAL)
		*ret_value = cell.real;
	else if (cell.type == RT_TYPE_COUNT)
		*ret_value = (double)cell.count;
	return cell.type == RT_TYPE_REAL || cell.type == RT_TYPE_COUNT;
}

/* Returns the index of a column of this name, old or new, in a table of `count` rows. */
static ssize_t column_to_fill(rt_table *table, const char *name, size_t count)
{
	ssize_t column = rt_table_find(table, name);

	if (table->column_count && count != table->row_count)
		return -EINVAL;
	if (!table->column_count) {
		if (reserve_rows(table, count) < 0)
			return -ENOMEM;
		table->row_count = count;
	}
	return column < 0 ? rt_table_add_column(table, name) : column;
}

int rt_table_set_column(rt_table *table, const char *name, const struct rt_value *cells, size_t count)
{
	ssize_t column = column_to_fill(table, name, count);
	int result = column < 0 ? (int)column : 0;

	for (size_t row = 0; row < count && result == 0; row++)
		result = rt_table_set(table, (size_t)column, row, cells[row]);
	return result;
}

static int copy_column(rt_table *to, const rt_table *from, size_t column)
{
	ssize_t copy = column_to_fill(to, from->columns[column].name, from->row_count);
	int result = copy < 0 ? (int)copy : 0;

	for (size_t row = 0; row < from->row_count && result == 0; row++)
		result = rt_table_set(to, (size_t)copy, row, rt_table_get(from, column, row));
	return result;
}

int rt_table_rename(rt_table *table, const char *const *from, const char *const *to, size_t count,
		    struct rt_problem *ret_problem)
{
	CLEANUP_FREE char **names = calloc(table->column_count + 1, sizeof(*names));
	int result = names ? 0 : problem_set(ret_problem, -ENOMEM, "out of memory");

	/* Find all columns before the first is renamed, because two columns may swap names. */
	for (size_t i = 0; i < count && result == 0; i++) {
		ssize_t column = rt_table_find(table, from[i]);

		if (column < 0) {
			result = problem_set(ret_problem, -ENOENT, "there is no column '%.200s' to rename",
					     from[i]);
			break;
		}
		free(names[column]);
		names[column] = strdup(to[i]);
		if (!names[column])
			result = problem_set(ret_problem, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; names && i < table->column_count; i++) {
		if (result == 0 && names[i]) {
			free(table->columns[i].name);
			table->columns[i].name = names[i];
		} else {
			free(names[i]);
		}
	}
	return result;
}

/* Returns an empty table with the same columns. */
static rt_table *same_columns(const rt_table *table)
{
	rt_table *copy = rt_table_new();

	for (size_t i = 0; copy && i < table->column_count; i++)
		if (rt_table_add_column(copy, table->columns[i].name) < 0) {
			rt_table_free(copy);
			return NULL;
		}
	return copy;
}

int rt_table_select(const rt_table *table, const char *const *names, size_t count, rt_table **ret_table,
		    struct rt_problem *ret_problem)
{
	rt_table *part = rt_table_new();

	if (!part)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		ssize_t column = rt_table_find(table, names[i]);
		int result = column < 0 ? problem_set(ret_problem, -ENOENT, "there is no column '%.200s'",
						      names[i])
					: copy_column(part, table, (size_t)column);

		if (result < 0) {
			rt_table_free(part);
			return result;
		}
	}
	*ret_table = part;
	return 0;
}

static int copy_table_row(rt_table *to, const rt_table *from, size_t row)
{
	ssize_t added = rt_table_add_row(to);
	int result = added < 0 ? (int)added : 0;

	for (size_t i = 0; i < from->column_count && result == 0; i++)
		result = rt_table_set(to, i, (size_t)added, rt_table_get(from, i, row));
	return result;
}

/* Resolves a bound of a slice: a negative one counts from the end, and the result is never outside. */
static int64_t slice_bound(int64_t index, int64_t rows, int64_t lowest, int64_t highest)
{
	if (index < 0)
		index = index < -rows ? lowest : index + rows;
	return index < lowest ? lowest : index > highest ? highest : index;
}

int rt_table_slice(const rt_table *table, struct rt_slice slice, rt_table **ret_table)
{
	int64_t rows = (int64_t)rt_table_row_count(table), backwards = slice.step < 0;
	int64_t lowest = backwards ? -1 : 0, highest = backwards ? rows - 1 : rows;
	int64_t at = slice.has_start ? slice_bound(slice.start, rows, lowest, highest)
		     : backwards     ? highest
				     : lowest;
	int64_t stop = slice.has_stop ? slice_bound(slice.stop, rows, lowest, highest)
		       : backwards    ? lowest
				      : highest;
	rt_table *part;
	int result = 0;

	if (!slice.step)
		return -EINVAL;
	part = same_columns(table);
	if (!part)
		return -ENOMEM;
	while (result == 0 && (backwards ? at > stop : at < stop)) {
		result = copy_table_row(part, table, (size_t)at);
		/* The next step would pass the end. Checking before it avoids an overflow. */
		if (backwards ? slice.step < stop - at : slice.step > stop - at)
			break;
		at += slice.step;
	}
	if (result < 0) {
		rt_table_free(part);
		return result;
	}
	*ret_table = part;
	return 0;
}

int rt_table_head(const rt_table *table, size_t rows, rt_table **ret_table)
{
	struct rt_slice slice = {.has_stop = true, .step = 1};

	slice.stop = rows > INT64_MAX ? INT64_MAX : (int64_t)rows;
	return rt_table_slice(table, slice, ret_table);
}

int rt_table_tail(const rt_table *table, size_t rows, rt_table **ret_table)
{
	struct rt_slice slice = {.has_start = true, .step = 1};
	size_t all = rt_table_row_count(table);

	slice.start = (int64_t)(rows < all ? all - rows : 0);
	return rt_table_slice(table, slice, ret_table);
}
