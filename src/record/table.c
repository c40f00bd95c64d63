/* A table of named columns; see table.h. */
#include "record/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_CHUNK_BYTES = 64 << 10, FIRST_ROWS = 64 };

struct text_chunk {
	struct text_chunk *next;
	size_t used, size;
	char bytes[];
};

struct column {
	char *name;
	struct cell *cells;
};

struct table {
	struct column *columns;
	size_t column_count;
	size_t row_count, row_capacity;
	struct text_chunk *texts;
};

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

void table_free(struct table *table)
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

size_t table_rows(const struct table *table)
{
	return table->column_count ? table->row_count : 0;
}

size_t table_columns(const struct table *table)
{
	return table->column_count;
}

const char *table_name(const struct table *table, size_t column)
{
	return table->columns[column].name;
}

ssize_t table_find(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (ssize_t)i;
	return -ENOENT;
}

ssize_t table_add_column(struct table *table, const char *name)
{
	struct column *columns, column = {0};

	if (table_find(table, name) >= 0)
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

static int grow_rows(struct table *table)
{
	size_t capacity = table->row_capacity ? table->row_capacity * 2 : FIRST_ROWS;

	for (size_t i = 0; i < table->column_count; i++) {
		struct cell *cells = realloc(table->columns[i].cells, capacity * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		table->columns[i].cells = cells;
	}
	table->row_capacity = capacity;
	return 0;
}

ssize_t table_add_row(struct table *table)
{
	if (table->row_count == table->row_capacity && grow_rows(table) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].cells[table->row_count] = (struct cell){0};
	return (ssize_t)table->row_count++;
}

static const char *keep_text(struct table *table, const char *text)
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

int table_set(struct table *table, size_t column, size_t row, struct cell cell)
{
	if (cell.type == CELL_TEXT) {
		cell.text = keep_text(table, cell.text);
		if (!cell.text)
			return -ENOMEM;
	}
	table->columns[column].cells[row] = cell;
	return 0;
}

struct cell table_cell(const struct table *table, size_t column, size_t row)
{
	return table->columns[column].cells[row];
}

bool table_real(const struct table *table, size_t column, size_t row, double *ret_value)
{
	struct cell cell = table_cell(table, column, row);

	if (cell.type == CELL_REAL)
		*ret_value = cell.real;
	else if (cell.type == CELL_COUNT)
		*ret_value = (double)cell.count;
	return cell.type == CELL_REAL || cell.type == CELL_COUNT;
}

const struct cell *table_column(const struct table *table, size_t column)
{
	return table->columns[column].cells;
}
