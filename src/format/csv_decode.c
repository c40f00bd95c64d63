/* Decodes one line of CSV into a frame. See csv_decode.h. */
#include "format/csv_decode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "metric/metric_set.h"
#include "metric/typed_rows.h"

const struct csv_column *csv_layout_column(const struct csv_layout *layout, const struct scan *heading)
{
	for (size_t i = 0; i < layout->column_count; i++)
		if (scan_is(heading, layout->columns[i].heading))
			return &layout->columns[i];
	return NULL;
}

void csv_decoder_done(struct csv_decoder *reader)
{
	free(reader->columns);
	*reader = (struct csv_decoder){0};
}

/* Returns how many headings of a line the layout has, or 0 without a time stamp. */
static size_t known_headings(const struct csv_layout *layout, struct scan line)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text cell;
	bool timestamp = false;
	size_t known = 0;

	while (cells_next(&cells, &cell) > 0) {
		known += csv_layout_column(layout, &cell.text) != NULL;
		timestamp |= scan_is(&cell.text, "timestamp");
	}
	return timestamp ? known : 0;
}

static const struct csv_layout *recognise_layout(struct scan line)
{
	const struct csv_layout *best = NULL;
	size_t most = 1; /* the time stamp alone proves nothing */

	for (size_t i = 0; i < CSV_LAYOUTS; i++) {
		size_t known = known_headings(&CSV_LAYOUT[i], line);

		if (known > most) {
			most = known;
			best = &CSV_LAYOUT[i];
		}
	}
	return best;
}

static size_t count_cells(struct scan line)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text cell;
	size_t count = 0;

	while (cells_next(&cells, &cell) > 0)
		count++;
	return count;
}

bool csv_decoder_header(struct csv_decoder *reader, struct scan line)
{
	const struct csv_layout *layout = recognise_layout(line);
	struct csv_decoder fresh = {.layout = layout};
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text cell;

	if (!layout)
		return false;
	fresh.columns = calloc(count_cells(line), sizeof(*fresh.columns));
	if (!fresh.columns)
		return false;
	while (cells_next(&cells, &cell) > 0) {
		const struct csv_column *column = csv_layout_column(layout, &cell.text);

		fresh.columns[fresh.column_count++] = column;
		fresh.unknown_count += !column;
	}
	/* The first writers always counted in ticks. A repeated header changes nothing. */
	fresh.ticks = layout == &CSV_LAYOUT[CSV_LAYOUT_system_0_1] ||
		      layout == &CSV_LAYOUT[CSV_LAYOUT_pid_0_1] ||
		      (layout == reader->layout && reader->ticks);
	csv_decoder_done(reader);
	*reader = fresh;
	return true;
}

bool csv_decoder_assume(struct csv_decoder *reader, struct scan line)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text first;

	if (count_cells(line) != combined->column_count || cells_next(&cells, &first) != 1 ||
	    real_absent(scan_whole_real(first.text)))
		return false;
	csv_decoder_done(reader);
	reader->columns = calloc(combined->column_count, sizeof(*reader->columns));
	if (!reader->columns)
		return false;
	reader->layout = combined;
	reader->column_count = combined->column_count;
	for (size_t i = 0; i < combined->column_count; i++)
		reader->columns[i] = &combined->columns[i];
	return true;
}

static bool may_be_ticks(const struct csv_decoder *reader)
{
	return reader->layout == &CSV_LAYOUT[CSV_LAYOUT_system_0_4] ||
	       reader->layout == &CSV_LAYOUT[CSV_LAYOUT_process_0_4];
}

/* Reads the time, the CPU time (in an unknown unit) and the cores in use from a row. */
static bool probe_row(const struct csv_decoder *reader, struct scan line, double *ret_timestamp,
		      double *ret_cpu_time, double *ret_cores)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text cell;
	size_t found = 0;

	*ret_cpu_time = 0;
	for (size_t i = 0; i < reader->column_count && cells_next(&cells, &cell) > 0; i++) {
		const char *heading = reader->columns[i] ? reader->columns[i]->heading : "";
		double value = scan_whole_real(cell.text);

		if (real_absent(value))
			continue;
		if (strcmp(heading, "timestamp") == 0)
			*ret_timestamp = value;
		else if (strcmp(heading, "cpu_usage") == 0)
			*ret_cores = value;
		else if (strcmp(heading, "utime") == 0 || strcmp(heading, "stime") == 0)
			*ret_cpu_time += value;
		else
			continue;
		found++;
	}
	return found == 4;
}

void csv_decoder_probe_ticks(struct csv_decoder *reader, struct scan lines)
{
	double timestamp = 0, cpu_time = 0, cores = 0, before = 0, times = 0, cpu_secs = 0;
	struct scan line;

	if (!may_be_ticks(reader))
		return;
	while (scan_line(&lines, &line)) {
		if (!probe_row(reader, scan_trim(line), &timestamp, &cpu_time, &cores))
			continue;
		if (before > 0 && timestamp > before) {
			times += cpu_time;
			cpu_secs += cores * (timestamp - before);
		}
		before = timestamp;
	}
	reader->ticks = cpu_secs > 0 && times > 10 * cpu_secs;
}

struct row *csv_decoder_row(struct frame *frame, enum row_kind kind)
{
	enum row_kind parent = ROW_DESCRIPTIONS[kind].parent;

	if (kind == ROW_sample)
		return &frame->sample->row;
	if (frame->first[kind])
		return frame->first[kind];
	return frame_add(frame, kind, parent == ROW_sample ? NULL : csv_decoder_row(frame, parent));
}

void csv_decoder_assign(const struct csv_decoder *reader, struct frame *frame,
			const struct csv_column *column, double value)
{
	const struct metric *metric = csv_column_metric(column);
	double factor = column->factor;

	/* No metric is below zero. */
	if (real_absent(value) || value < 0)
		return;
	if (reader->ticks) {
		if (metric->nature == DELTA && strcmp(metric->unit, "s") == 0)
			factor = 100;
		if (strcmp(column->heading, "processes") == 0)
			return;
	}
	if (metric->type == TYPE_REAL && value / factor <= RECORDED_MOST)
		*row_real(csv_decoder_row(frame, column->kind), column->offset) = value / factor;
	else if (metric->type == TYPE_COUNT && value < 9e18)
		*row_count(csv_decoder_row(frame, column->kind), column->offset) = (int64_t)value;
}

bool csv_decoder_read(const struct csv_decoder *reader, struct scan line, struct frame *frame)
{
	CLEANUP_CELLS struct cells cells = CELLS(line);
	struct cell_text cell;
	size_t at = 0;
	int result;

	while ((result = cells_next(&cells, &cell)) > 0) {
		if (at >= reader->column_count)
			return false;
		if (reader->columns[at])
			csv_decoder_assign(reader, frame, reader->columns[at], scan_whole_real(cell.text));
		at++;
	}
	return result == 0 && at == reader->column_count && !real_absent(frame->sample->timestamp) &&
	       !frame->error;
}
