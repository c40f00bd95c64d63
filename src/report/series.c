/* Packs the values of one column; see series.h. */
#include "report/series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"

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

static enum series_join join_of(const struct metric *metric)
{
	static const char *const SHARES[] = {"%", "W", "GPUs"};

	if (metric_is_change(metric))
		return JOIN_SUM;
	if (metric_is_rate(metric))
		return JOIN_MEAN;
	for (size_t i = 0; i < ARRAY_SIZE(SHARES); i++)
		if (strcmp(metric->unit, SHARES[i]) == 0)
			return JOIN_MEAN;
	return JOIN_MOST;
}

void series_of_place(struct series *series, const char *name, const struct metric_place *column)
{
	*series =
		(struct series){.name = name, .column = *column, .scale = 1, .bytes = BUFFER(BYTES_CEILING)};
	series->join = join_of(metric_place_metric(column));
	for (int i = 0; i < metric_place_metric(column)->decimals; i++)
		series->scale *= 10;
}

static void add_number(struct buffer *bytes, uint64_t number)
{
	char text[10];
	size_t length = 0;

	for (; number > 0x7f; number >>= 7)
		text[length++] = (char)(0x80 | (number & 0x7f));
	text[length++] = (char)number;
	buffer_add(bytes, text, length);
}

static void end_series_run(struct series *series)
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

static void add_value(struct series *series, double value)
{
	double whole;
	int64_t change;

	if (value == series->last_value && !series->absent) {
		series->same++;
		series->any = true;
		return;
	}
	whole = round(value * series->scale);
	if (!(fabs(whole) < LARGEST_WHOLE)) {
		if (series->same)
			end_series_run(series);
		series->absent++;
		return;
	}
	series->last_value = value;
	change = (int64_t)whole - series->last;
	if (change == 0) {
		if (series->absent)
			end_series_run(series);
		series->same++;
	} else {
		end_series_run(series);
		add_number(&series->bytes, change > 0 ? 2 * (uint64_t)change + 1 : 2 * (uint64_t)-change);
		series->last += change;
	}
	series->any = true;
}

void series_gather(struct series *series, double value, double secs)
{
	if (isnan(value))
		return;
	if (!series->point.count++)
		series->point.first = series->point.most = value;
	series->point.sum += value;
	if (value > series->point.most)
		series->point.most = value;
	if (secs > 0) {
		series->point.weighted += value * secs;
		series->point.weights += secs;
	}
}

void series_end_point(struct series *series)
{
	double value = series->point.first;

	if (series->point.count > 1)
		value = series->join == JOIN_SUM    ? series->point.sum
			: series->join == JOIN_MOST ? series->point.most
			: series->point.weights > 0 ? series->point.weighted / series->point.weights
						    : series->point.sum / (double)series->point.count;
	add_value(series, series->point.count ? value : (double)NAN);
	memset(&series->point, 0, sizeof(series->point));
}

void series_add_absent(struct series *series, uint64_t points)
{
	series->absent = points;
}

void series_clear(struct series *series)
{
	buffer_clear(&series->bytes);
	series->last = 0;
	series->last_value = 0;
	series->absent = series->same = 0;
	series->any = false;
	memset(&series->point, 0, sizeof(series->point));
}

int series_write(struct series *series, struct json_writer *json)
{
	const struct metric *metric = metric_place_metric(&series->column);

	end_series_run(series);
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
