/*
 * Rows of integers, kept by column in little memory: the samples of a day in a few MiB.
 *
 * Rows are added at the end and dropped at the front, so that a row keeps its number. The newest ones lie open.
 * Each full page of them is packed, a column at a time, as offsets from the least value or as offsets between
 * neighbours from the least of those, whichever takes fewer bits: a column that does not change, or that grows
 * evenly, takes none. A page can be read without touching another.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { INT_COLUMNS_PAGE_ROWS = 256 };

/* A cell that holds no value. */
#define INT_COLUMNS_ABSENT INT64_MIN

struct int_page;

struct int_columns {
	size_t column_count;
	int64_t keep;      /* rows; more than that are dropped at the front, a page at a time */
	int64_t first_row; /* number of the oldest row */
	int64_t row_count;
	int64_t *open; /* INT_COLUMNS_PAGE_ROWS of each column, one column after the other */
	size_t open_rows;
	struct int_page **pages;
	size_t page_count;
	size_t page_room;
	size_t bytes; /* of memory in all */
};

/* 0 or -ENOMEM. int_columns_done() may follow in either case. */
int int_columns_init(struct int_columns *columns, size_t column_count, int64_t keep);
void int_columns_done(struct int_columns *columns);

/* A row of column_count values. Where memory is short, the oldest rows make room. */
void int_columns_add(struct int_columns *columns, const int64_t *values);

/*
 * Up to `count` values of a column from row `first` on, as many as lie in one page. Returns how many, or 0 when there
 * is no such row.
 */
size_t int_columns_read(const struct int_columns *columns, size_t column, int64_t first, size_t count,
			int64_t *ret_values);
