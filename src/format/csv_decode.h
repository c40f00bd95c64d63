/*
 * Decodes one line of a CSV recording into a frame, by the headings of any layout in format/csv_columns.def.
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
		*columns; /* of the file, in its order. NULL: a heading that the layout lacks */
	size_t column_count;
	size_t unknown_count; /* number of NULLs in `columns` */
	/*
	 * Python 0.2 and 0.3 wrote the headings of 0.4, with times in clock ticks and a wrong number of processes.
	 */
	bool ticks;
};

/* If the line is the header of a layout, returns true and uses that layout for the following lines. */
bool csv_decoder_header(struct csv_decoder *reader, struct scan line);
void csv_decoder_done(struct csv_decoder *reader);

/* Without a header, only the number of cells can identify the layout. Returns true for the 32 of "combined". */
bool csv_decoder_assume(struct csv_decoder *reader, struct scan line);

/* Looks at the lines after a header to find the unit of the times. */
void csv_decoder_probe_ticks(struct csv_decoder *reader, struct scan lines);

/*
 * Fills a frame that frame_begin() has emptied. Returns false if the number of cells differs from the headings, or
 * the time stamp is missing.
 */
bool csv_decoder_read(const struct csv_decoder *reader, struct scan line, struct frame *frame);

/* Stores one cell. For readers whose cells come from another source (snapshots, SQLite). */
void csv_decoder_assign(const struct csv_decoder *reader, struct frame *frame,
			const struct csv_column *column, double value);

/* Returns the only row of a kind. Adds it below its parent if it is not there yet. */
struct row *csv_decoder_row(struct frame *frame, enum row_kind kind);

/* Returns the column with a heading, or NULL. */
const struct csv_column *csv_layout_column(const struct csv_layout *layout, const struct scan *heading);
