/*
 * The page as tools/report-page built it: the bytes before and after the data, and the names of the columns
 * that its charts show, in the form of record/column.h. page/layout.json is the only list of those columns.
 * Charts of each GPU, each disk and so on show columns of all rows of a kind.
 */
#pragma once

#include <stddef.h>

struct report_rows {
	const char *name;           /* of the kind, as in samples: "gpu" */
	const char *const *columns; /* "gpu.power_watts" */
	size_t column_count;
};

struct report_page {
	const unsigned char *head, *tail;
	size_t head_length, tail_length; /* 0: built without uPlot, so there is no page */
	const char *const *columns;      /* the time, the length of the interval, then the values */
	size_t column_count;
	const struct report_rows *rows;
	size_t rows_count;
};

extern const struct report_page REPORT_PAGE;
/* That of a workflow, which needs no uPlot and has no columns. */
extern const struct report_page FLOW_PAGE;
