/*
 * A table: named columns of cells, each of which is an integer, a real number, a text or nothing.
 *
 * A table owns all that is in it; what is made from another table is a copy. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "record/problem.h"

enum cell_type { CELL_NONE, CELL_COUNT, CELL_REAL, CELL_TEXT };

struct cell {
	enum cell_type type;
	union {
		int64_t count;
		double real;
		const char *text;
	};
};

struct table;

/* NULL without memory. */
struct table *table_new(void);
void table_free(struct table *table);

size_t table_rows(const struct table *table);
size_t table_columns(const struct table *table);
const char *table_name(const struct table *table, size_t column);
/* The index of a column, or -ENOENT. */
ssize_t table_find(const struct table *table, const char *name);

/* A new column at the end, all cells empty: its index, -EEXIST or -ENOMEM. */
ssize_t table_add_column(struct table *table, const char *name);
/* A new row at the end, all cells empty: its index, or -ENOMEM. */
ssize_t table_add_row(struct table *table);
/* A text is copied. */
int table_set(struct table *table, size_t column, size_t row, struct cell cell);
struct cell table_cell(const struct table *table, size_t column, size_t row);
/* The cell as a number; false for texts and empty cells. */
bool table_real(const struct table *table, size_t column, size_t row, double *ret_value);

/* Cells of a column, row by row, for loops that read many. */
const struct cell *table_column(const struct table *table, size_t column);
