/*
 * Values of a row kind with several rows, such as each GPU or each disk: one series (series.h) for each row and
 * column.
 *
 * A row is known by its key, or by its position if its kind has no keys. A sample without the row has no value. Rows
 * of one sample with the same key are added up.
 */
#pragma once

#include "report/page.h"
#include "report/series.h"

/* Further rows are counted in `left_out`. */
enum { ROW_SERIES_MOST = 256 };

struct row_instance {
	char *name;
	struct series *series; /* one for each column */
	double *now;           /* values in the current sample */
};

struct row_series {
	const struct report_rows *rows;
	struct metric_place *columns;
	struct row_instance list[ROW_SERIES_MOST];
	size_t count, left_out;
	uint64_t points; /* of the current run */
	int error;       /* 0, or -ENOMEM */
};

/* Begins the series of a kind. Returns 0 or the error of record_column_find(). */
int row_series_begin(struct row_series *all, const struct report_rows *rows, struct rt_problem *problem);
void row_series_want(const struct row_series *all, struct metric_set *wanted);
/* Adds a sample of this length to the point. */
void row_series_gather(struct row_series *all, const struct frame *frame, double secs);
void row_series_end_point(struct row_series *all);
size_t row_series_bytes(const struct row_series *all);
/* Drops all rows before another run begins. */
void row_series_clear(struct row_series *all);
/*
 * Writes {"rows":...,"left_out":...,"instances":[{"name":...,"columns":[...]}]}; instances and columns without a value
 * are left out. Returns 0 or a negative errno.
 */
int row_series_write(struct row_series *all, struct json_writer *json);
void row_series_done(struct row_series *all);
