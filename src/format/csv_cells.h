/* Reads the cells of a CSV line, and numbers as the writers of recordings print them. */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"
#include "metric/absent.h"

/* A cursor: each call moves on by one cell. */
struct cells {
	struct scan line;
	struct buffer unquoted; /* a cell that contained doubled quotes */
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

/* Returns 1 for a cell, 0 at the end of the line, -EBADMSG if a quote is not closed. */
int cells_next(struct cells *cells, struct cell_text *ret_cell);

/* Reads the whole text as an integer ("12.0" as well). Absent if it is not one. */
int64_t scan_whole_count(struct scan text);

/* Reads the whole text as a number. Absent for "", "nan", "inf", "None" and other texts. */
double scan_whole_real(struct scan text);
