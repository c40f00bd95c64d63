/* The samples of a tracker by column. See kept_samples.h and the header of the library. */
#include "tracker/kept_samples.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "metric/derive.h"
#include "metric/metric_set.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"

enum { NAME_BYTES = 160 };

/* Above this a double has no exact integers. No measured value comes near it. */
#define SCALED_MOST 9.0e15

/* The steps in which values come: KiB for MiB, sectors for disk space, 2^-22 s for the time as a double. */
#define KIB_PER_MIB 1024.0
#define SECTORS_PER_GB 1953125.0
#define STEPS_OF_TIME 4194304.0

/* ---- keeping ----------------------------------------------------------------------------------------- */

static double scale_of_decimals(int decimals)
{
	double scale = 1;

	for (; decimals > 0; decimals--)
		scale *= 10;
	return scale;
}

/*
 * The scale has to keep each value in the step in which it comes. Reading rounds it once more, and the result
 * then equals that of rounding once. The metrics that only a CSV layout has are memory, except for the first
 * column, which is the time.
 */
static double scale_of(const struct metric *metric)
{
	if (metric->type != TYPE_REAL)
		return 1;
	if (metric->nature == RAW || strcmp(metric->unit, "MiB") == 0)
		return KIB_PER_MIB;
	if (strcmp(metric->unit, "GB") == 0)
		return SECTORS_PER_GB;
	if (metric == csv_column_metric(&CSV_LAYOUT[CSV_LAYOUT_combined].columns[0]))
		return STEPS_OF_TIME;
	return scale_of_decimals(metric->decimals);
}

/* Whether a sample has at most one row of this kind, always the same instance. */
static bool is_single(enum row_kind kind)
{
	for (; kind != ROW_sample; kind = ROW_DESCRIPTIONS[kind].parent)
		if (ROW_DESCRIPTIONS[kind].shape != OBJECT && ROW_DESCRIPTIONS[kind].shape != INLINE)
			return false;
	return true;
}

static bool in_a_csv_layout(enum row_kind kind, size_t offset)
{
	for (size_t i = 0; i < CSV_LAYOUTS; i++)
		for (size_t c = 0; c < CSV_LAYOUT[i].column_count; c++)
			if (CSV_LAYOUT[i].columns[c].kind == kind &&
			    CSV_LAYOUT[i].columns[c].offset == offset)
				return true;
	return false;
}

static bool keeps_metric(const struct selection *selection, enum row_kind kind, size_t index)
{
	const struct metric *metric = &ROW_DESCRIPTIONS[kind].metrics[index];

	if (metric->type == TYPE_TEXT || !is_single(kind))
		return false;
	if (kind == ROW_sample)
		return true;
	if (selection)
		return selection->metrics[kind][index] && metric->nature != RAW;
	return in_a_csv_layout(kind, metric_offset(index));
}

/* Adds a column for each metric that is kept. If `columns` is NULL, only counts them. */
static size_t add_single(struct kept_column *columns, const struct selection *selection)
{
	size_t count = 0;

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			if (!keeps_metric(selection, kind, i))
				continue;
			if (columns)
				columns[count] = (struct kept_column){
					.kind = kind,
					.offset = metric_offset(i),
					.scale = scale_of(&ROW_DESCRIPTIONS[kind].metrics[i]),
				};
			count++;
		}
	}
	return count;
}

static int keep_named(struct kept_samples *kept, const char *name, const struct metric_place *place)
{
	const struct metric *metric = metric_place_metric(place);
	struct kept_column column = {
		.kind = place->kind,
		.offset = metric_offset(place->index),
		/* The mean of integers has decimals. */
		.scale = place->choice == PLACE_MEAN && metric->type != TYPE_REAL ? scale_of_decimals(3)
										  : scale_of(metric),
		.place = malloc(sizeof *place),
		.name = strdup(name),
	};

	kept->columns[kept->column_count++] = column;
	if (!column.place || !column.name)
		return -ENOMEM;
	*column.place = *place;
	return 0;
}

int kept_samples_open(struct kept_samples *kept, int64_t keep, const struct selection *selection,
		      const struct kept_names *names)
{
	size_t count = add_single(NULL, selection);
	int error = 0;

	kept->columns = calloc(count + names->count, sizeof *kept->columns);
	kept->row = calloc(count + names->count, sizeof *kept->row);
	if (!kept->columns || !kept->row)
		return -ENOMEM;
	kept->keep = keep;
	kept->column_count = add_single(kept->columns, selection);
	for (size_t i = 0; i < names->count && !error; i++)
		error = keep_named(kept, names->names[i], &names->places[i]);
	return error ? error : int_columns_init(&kept->rows, kept->column_count, keep);
}

void kept_samples_close(struct kept_samples *kept)
{
	int_columns_done(&kept->rows);
	for (size_t i = 0; i < kept->column_count; i++) {
		free(kept->columns[i].place);
		free(kept->columns[i].name);
	}
	free(kept->columns);
	free(kept->row);
	*kept = (struct kept_samples){0};
}

static size_t metric_index(const struct kept_column *column)
{
	return metric_index_at(column->offset);
}

static int64_t steps_of(double value)
{
	if (!(fabs(value) < SCALED_MOST))
		return INT_COLUMNS_ABSENT;
	/* Near the end of a double's exact range, adding a half would change an integer. */
	if ((double)(int64_t)value == value)
		return (int64_t)value;
	return value < 0 ? -(int64_t)(-value + 0.5) : (int64_t)(value + 0.5);
}

static int64_t scaled_value(const struct frame *frame, const struct kept_column *column)
{
	const struct metric *metric = &ROW_DESCRIPTIONS[column->kind].metrics[metric_index(column)];
	const struct row *row = frame->first[column->kind];

	if (column->place)
		return steps_of(metric_place_real(column->place, frame) * column->scale);
	if (!row || field_absent(row, metric->type, column->offset))
		return INT_COLUMNS_ABSENT;
	if (metric->type != TYPE_REAL)
		return *row_count(row, column->offset);
	return steps_of(*row_real(row, column->offset) * column->scale);
}

void kept_samples_add(struct kept_samples *kept, const struct frame *frame)
{
	if (!kept->columns)
		return;
	for (size_t i = 0; i < kept->column_count; i++)
		kept->row[i] = scaled_value(frame, &kept->columns[i]);
	int_columns_add(&kept->rows, kept->row);
}

ssize_t kept_samples_find(const struct kept_samples *kept, enum row_kind kind, size_t offset)
{
	for (size_t i = 0; i < kept->column_count; i++)
		if (kept->columns[i].kind == kind && kept->columns[i].offset == offset)
			return (ssize_t)i;
	return -ENOENT;
}

/* ---- settings ---------------------------------------------------------------------------------------- */

int rt_config_set_history(rt_config *config, int64_t samples, const char *metrics)
{
	char *copy = NULL;

	if (samples < 0)
		return config_fail(config, -EINVAL, "history: %lld samples cannot be kept; 0 keeps none",
				   (long long)samples);
	if (metrics && !(copy = strdup(metrics)))
		return config_fail(config, -ENOMEM, "out of memory");
	free(config->history_metrics);
	config->history_metrics = copy;
	config->history_samples = samples;
	return 0;
}

/* Splits names and globs at commas, blanks and newlines. The results point into `text`, which is modified. */
static size_t split_globs(char *text, char **ret_globs, size_t most)
{
	static const char BETWEEN[] = ", \t\n";
	size_t count = 0;

	for (char *at = text + strspn(text, BETWEEN); *at && count < most; at += strspn(at, BETWEEN)) {
		ret_globs[count++] = at;
		at += strcspn(at, BETWEEN);
		if (*at)
			*at++ = '\0';
	}
	return count;
}

/* Returns 1 if it is the name of a number, 0 if it may be a glob. */
static int take_name(struct rt_config *config, char *name, struct kept_names *names)
{
	struct metric_place *place = &names->places[names->count];
	char plain[NAME_BYTES];

	*place = (struct metric_place){0};
	if (!strchr(name, '[') || !metric_place_split(name, plain, sizeof plain, place) ||
	    !metric_place_find(plain, place))
		return 0;
	if (metric_place_settle(place) != PLACE_GOOD)
		return config_fail(config, -EINVAL,
				   "history: '%s' has a missing or superfluous row in brackets; give its "
				   "name, its number from 0, or sum, mean or max",
				   name);
	if (metric_place_metric(place)->type == TYPE_TEXT)
		return config_fail(config, -EINVAL, "history: '%s' is a text; only numbers are kept", name);
	names->names[names->count++] = name;
	return 1;
}

/* Takes the names of single numbers out of the list. */
static int take_names(struct rt_config *config, char **globs, size_t *count, struct kept_names *names)
{
	size_t left = 0;

	for (size_t i = 0; i < *count; i++) {
		int taken = take_name(config, globs[i], names);

		if (taken < 0)
			return taken;
		if (!taken)
			globs[left++] = globs[i];
	}
	*count = left;
	return 0;
}

RUNS_ONCE int tracker_open_history(struct rt_tracker *tracker, struct rt_config *config)
{
	CLEANUP_FREE struct kept_names *names = NULL;
	char *text = tracker->config->history_metrics;
	char none[] = "", *globs[KEPT_NAMES_MOST] = {none};
	struct selection selection;
	const char *unmatched;
	size_t asked, count;
	int error;

	if (!tracker->config->history_samples)
		return 0;
	names = calloc(1, sizeof *names);
	if (!names)
		return config_fail(config, -ENOMEM, "out of memory");
	count = asked = text ? split_globs(text, globs, KEPT_NAMES_MOST) : 0;
	if (count == KEPT_NAMES_MOST)
		return config_fail(config, -EINVAL, "history: more than %d names", KEPT_NAMES_MOST - 1);
	error = take_names(config, globs, &count, names);
	if (error < 0)
		return error;
	unmatched = selection_unmatched(globs, count);
	if (unmatched)
		return config_fail(config, -EINVAL, "history: no metric matches '%s'", unmatched);
	/* An empty list would match every metric. An empty glob matches none. */
	globs[0] = count ? globs[0] : none;
	selection_init(&selection, false, false, globs, count ? count : 1);
	if (kept_samples_open(&tracker->kept, tracker->config->history_samples, asked ? &selection : NULL,
			      names) < 0)
		return config_fail(config, -ENOMEM, "out of memory");
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

/* How the integers of a column become the values that the caller wants. */
struct reading {
	ssize_t column;
	double scale, factor; /* value = integer / scale x factor */
	int decimals;         /* rounded to this many. -1: needs no rounding */
};

/* Decimals to which a metric is rounded on reading, or -1 if its steps are those decimals, or KiB. */
static int decimals_of(const struct kept_column *column)
{
	return column->scale == SECTORS_PER_GB || column->scale == STEPS_OF_TIME
		       ? ROW_DESCRIPTIONS[column->kind].metrics[metric_index(column)].decimals
		       : -1;
}

static bool is_called(const struct kept_column *column, const char *name)
{
	char full_name[NAME_BYTES];

	if (column->name)
		return strcmp(name, column->name) == 0;
	return ROW_DESCRIPTIONS[column->kind].metrics[metric_index(column)].nature != RAW &&
	       metric_full_name(column->kind, metric_index(column), full_name, sizeof full_name) > 0 &&
	       strcmp(name, full_name) == 0;
}

static int find_metric(const struct kept_samples *kept, const char *name, struct reading *ret_reading)
{
	for (size_t i = 0; i < kept->column_count; i++) {
		const struct kept_column *column = &kept->columns[i];

		if (is_called(column, name)) {
			*ret_reading = (struct reading){(ssize_t)i, column->scale, 1, decimals_of(column)};
			return 0;
		}
	}
	return -ENOENT;
}

static int kept_heading(const struct kept_samples *kept, const char *layout_name, const char *heading,
			struct reading *ret_reading)
{
	const struct csv_layout *layout = csv_layout_find(layout_name);

	for (size_t i = 0; layout && i < layout->column_count; i++) {
		const struct csv_column *column = &layout->columns[i];
		bool whole = csv_column_metric(column)->type != TYPE_REAL;
		ssize_t index = kept_samples_find(kept, column->kind, column->offset);

		if (strcmp(heading, column->heading) != 0)
			continue;
		if (index < 0)
			return -ENOENT;
		*ret_reading = (struct reading){index, kept->columns[index].scale, column->factor,
						whole ? -1 : column->decimals};
		return 0;
	}
	return -ENOENT;
}

static void convert_column(const struct reading *reading, const int64_t *integers, size_t count,
			   double *ret_values)
{
	for (size_t i = 0; i < count; i++) {
		double value = (double)integers[i] / reading->scale;

		if (reading->decimals >= 0)
			value = round_to(value * reading->factor, reading->decimals);
		ret_values[i] = integers[i] == INT_COLUMNS_ABSENT ? (double)NAN : value;
	}
}

static ssize_t read_rows(const struct kept_samples *kept, const struct reading *reading, int64_t first,
			 size_t count, double *ret_values)
{
	size_t done = 0;

	while (done < count) {
		int64_t integers[INT_COLUMNS_PAGE_ROWS];
		size_t got = int_columns_read(&kept->rows, (size_t)reading->column, first + (int64_t)done,
					      count - done, integers);

		if (!got)
			break;
		convert_column(reading, integers, got, ret_values + done);
		done += got;
	}
	return (ssize_t)done;
}

/* The oldest row that is shown. Rows are dropped by whole pages, so a few older ones may still be stored. */
static int64_t oldest_row(const struct kept_samples *kept)
{
	int64_t surplus = kept->rows.row_count - kept->keep;

	return kept->rows.first_row + (surplus > 0 ? surplus : 0);
}

ssize_t rt_history_read(struct rt_tracker *tracker, const char *layout, const char *column, int64_t first,
			size_t count, double *ret_values)
{
	const struct kept_samples *kept;
	struct reading reading;
	ssize_t result;

	if (!tracker_lock(tracker))
		return -ECHILD;
	kept = &tracker->kept;
	if (tracker->apart) {
		result = apart_history_read(tracker, layout, column, first, count, ret_values);
		tracker_unlock(tracker);
		return result;
	}
	if (!kept->columns)
		result = -ENODATA;
	else
		result = layout ? kept_heading(kept, layout, column, &reading)
				: find_metric(kept, column, &reading);
	if (!result)
		result = first < oldest_row(kept) ? -ERANGE
						  : read_rows(kept, &reading, first, count, ret_values);
	tracker_unlock(tracker);
	return result;
}

int64_t rt_history_count(struct rt_tracker *tracker, int64_t *ret_first, size_t *ret_bytes)
{
	const struct kept_samples *kept;
	int64_t count = -ENODATA, first;

	if (!tracker_lock(tracker))
		return -ECHILD;
	kept = &tracker->kept;
	if (tracker->apart) {
		count = apart_history_count(tracker, ret_first, ret_bytes);
	} else if (kept->columns) {
		first = oldest_row(kept);
		count = kept->rows.first_row + kept->rows.row_count - first;
		if (ret_first)
			*ret_first = first;
		if (ret_bytes)
			*ret_bytes = kept->rows.bytes;
	}
	tracker_unlock(tracker);
	return count;
}

const char *rt_csv_layout_name(size_t layout)
{
	return layout < CSV_LAYOUTS ? CSV_LAYOUT[layout].name : NULL;
}

const char *rt_csv_heading(const char *layout_name, size_t column)
{
	const struct csv_layout *layout = csv_layout_find(layout_name);

	return layout && column < layout->column_count ? layout->columns[column].heading : NULL;
}
