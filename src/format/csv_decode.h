/*
 * One line of a CSV recording into a frame, by the headings of any layout in format/csv_columns.def.
 *
 *   timestamp,system_processes,system_utime,...
 *   1718000000.000,312,0.520,...
 */
#pragma once

#include "format/csv_cells.h"
#include "format/csv_layout.h"
#include "metric/frame.h"

struct csv_decoder {
	const struct csv_layout *layout;
	const struct csv_column *
		*columns; /* of the file, in its order; NULL: a heading that the layout lacks */
	size_t column_count;
	size_t unknown_count; /* of these NULLs */
	/* Python 0.2 and 0.3 wrote the headings of 0.4 with times in clock ticks, and a wrong number of processes. */
	bool ticks;
};

/* Whether a line is the header of a layout; then it is what the next lines are read by. */
bool csv_decoder_header(struct csv_decoder *reader, struct scan line);
void csv_decoder_done(struct csv_decoder *reader);

/* Without a header only the number of cells can tell the layout: true for the 32 of "combined". */
bool csv_decoder_assume(struct csv_decoder *reader, struct scan line);

/* Looks at the lines that follow a header to find out the unit of the times. */
void csv_decoder_probe_ticks(struct csv_decoder *reader, struct scan lines);

/* Fills a frame that frame_begin() has emptied. False: not as many cells as headings, or no timestamp. */
bool csv_decoder_read(const struct csv_decoder *reader, struct scan line, struct frame *frame);

/* Puts one cell into its place. For readers whose cells come from elsewhere (snapshots, SQLite). */
void csv_decoder_assign(const struct csv_decoder *reader, struct frame *frame,
			const struct csv_column *column, double value);

/* The only row of a kind, added below the row that it belongs to when it is not there yet. */
struct row *csv_decoder_row(struct frame *frame, enum row_kind kind);

/* The column of a heading; NULL: the layout has none. */
const struct csv_column *csv_layout_column(const struct csv_layout *layout, const struct scan *heading);
