/* Packs the values of one column; see series.h. */
#include "report/series.h"

#include <errno.h>
#include <math.h>

#include "base/base64.h"

enum { BYTES_CEILING = 1 << 29 };

/* The page computes in doubles, which hold every whole number only up to 2^53. */
static const double LARGEST_WHOLE = 9007199254740992.0;

int series_begin(struct series *series, const char *name, struct rt_problem *problem)
{
	struct metric_place column = {0};
	int result = record_column_find(name, &column, problem);

	if (result == 0)
		series_of_place(series, name, &column);
	return result;
}

void series_of_place(struct series *series, const char *name, const struct metric_place *column)
{
	*series =
		(struct series){.name = name, .column = *column, .scale = 1, .bytes = BUFFER(BYTES_CEILING)};
	for (int i = 0; i < metric_place_metric(column)->decimals; i++)
		series->scale *= 10;
}

static void add_number(struct buffer *bytes, uint64_t number)
{
	while (number > 0x7f) {
		buffer_add_char(bytes, (char)(0x80 | (number & 0x7f)));
		number >>= 7;
	}
	buffer_add_char(bytes, (char)number);
}

static void end_run(struct series *series)
{
	if (series->absent) {
		add_number(&series->bytes, 0);
		add_number(&series->bytes, series->absent);
	} else if (series->same) {
		add_number(&series->bytes, 1);
		add_number(&series->bytes, series->same);
	}
	series->absent = series->same = 0;
}

void series_add_value(struct series *series, double value)
{
	double whole = round(value * series->scale);
	int64_t change;

	if (!(fabs(whole) < LARGEST_WHOLE)) {
		if (series->same)
			end_run(series);
		series->absent++;
		return;
	}
	change = (int64_t)whole - series->last;
	if (change == 0) {
		if (series->absent)
			end_run(series);
		series->same++;
	} else {
		end_run(series);
		add_number(&series->bytes, change > 0 ? 2 * (uint64_t)change + 1 : 2 * (uint64_t)-change);
		series->last += change;
	}
	series->any = true;
}

void series_add(struct series *series, const struct frame *frame)
{
	series_add_value(series, record_column_real(&series->column, frame));
}

void series_add_absent(struct series *series, uint64_t samples)
{
	series->absent = samples;
}

void series_clear(struct series *series)
{
	buffer_clear(&series->bytes);
	series->last = 0;
	series->absent = series->same = 0;
	series->any = false;
}

int series_write(struct series *series, struct json_writer *json)
{
	const struct metric *metric = metric_place_metric(&series->column);

	end_run(series);
	if (buffer_error(&series->bytes) < 0)
		return buffer_error(&series->bytes);
	json_open(json, '{');
	json_key(json, "column");
	json_text(json, series->name);
	json_key(json, "unit");
	json_text(json, metric->unit);
	json_key(json, "help");
	json_text(json, metric->help);
	json_key(json, "decimals");
	json_count(json, metric->decimals);
	json_key(json, "data");
	json_raw(json, "\"", 1);
	buffer_add_base64(json->out, series->bytes.data, series->bytes.length);
	buffer_add_char(json->out, '"');
	json_close(json, '}');
	return 0;
}

void series_done(struct series *series)
{
	buffer_done(&series->bytes);
}
