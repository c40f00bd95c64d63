/*
 * The cells of a CSV line, and numbers as the writers of recordings print them.
 */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"
#include "metric/absent.h"

/* The line is one cell further each time. */
struct cells {
	struct scan line;
	struct buffer unquoted; /* a cell that had doubled quotes */
	bool ended;
};

struct cell_text {
	struct scan text; /* without quotes; valid until the next cell */
	bool quoted;
};

#define CELLS(line_) ((struct cells){.line = (line_), .unquoted = BUFFER(1 << 20)})

static inline void cells_done(struct cells *cells)
{
	buffer_done(&cells->unquoted);
}
#define CLEANUP_CELLS __attribute__((cleanup(cells_done)))

/* 1: a cell; 0: the line is over; -EBADMSG: a quote is not closed. */
int cells_next(struct cells *cells, struct cell_text *ret_cell);

/* The whole text as an integer; "12.0" is one too. Else absent. */
int64_t scan_whole_count(struct scan text);

/* The whole text as a number; absent for "", "nan", "inf", "None" and all else. */
double scan_whole_real(struct scan text);
