/*
 * The page as it was built (tools/report-page): what stands before and after the data, and the columns that its
 * charts show, as record/column.h names them. Which those are is in page/layout.json alone.
 */
#pragma once

#include <stddef.h>

struct report_page {
	const unsigned char *head, *tail;
	size_t head_length, tail_length; /* 0: built without uPlot, there is no page */
	const char *const *columns;      /* the time, the length of the interval, then values */
	size_t column_count;
};

extern const struct report_page REPORT_PAGE;
