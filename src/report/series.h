/*
 * The values of one column, packed for the page; page/decode.js unpacks them.
 *
 * A point is one sample. In recordings so long that the page would not fit into memory, it is several (report.c).
 *
 * A value is stored as a whole multiple of the metric's last decimal, so nothing is lost. The bytes are
 * numbers in LEB128:
 *   0 n   n points without a value
 *   1 n   the last value n more times
 *   t     t > 1: the last value plus a change; t - 1 is the zigzag code of the change (1: -1, 2: +1, 3: -2, ...)
 * The value before the first point is 0.
 */
#pragma once

#include "base/buffer.h"
#include "base/json_write.h"
#include "record/column.h"

/* How the samples of one point count together. */
enum series_join {
	JOIN_MEAN, /* rates, and shares of a device: by time */
	JOIN_SUM,  /* changes since the last sample */
	JOIN_MOST, /* levels, so that no peak is lost */
};

struct series {
	const char *name;
	struct metric_place column;
	double scale;      /* value x scale is whole */
	double last_value; /* before it was scaled and rounded */
	int64_t last;
	uint64_t absent, same; /* lengths of runs not yet written; at least one is 0 */
	bool any;              /* a value has been added */
	enum series_join join;
	struct {
		size_t count; /* values; 0: none yet */
		double first, sum, most, weighted, weights;
	} point; /* the one that is being gathered */
	struct buffer bytes;
};

/* Begins a series. Returns 0 or the error of record_column_find(). */
int series_begin(struct series *series, const char *name, struct rt_problem *problem);
/* Begins a series whose column is known. */
void series_of_place(struct series *series, const char *name, const struct metric_place *column);
/* Adds the value of a sample of this length to the point; NaN: it has none. */
void series_gather(struct series *series, double value, double secs);
/* Ends a point. It is its only value, or that of all its values together. */
void series_end_point(struct series *series);
/* Begins with this number of points without a value. */
void series_add_absent(struct series *series, uint64_t points);
/* Drops the values before another run begins. */
void series_clear(struct series *series);
/*
 * Writes {"column":...,"unit":...,"help":...,"decimals":...,"data":base64} and ends the series. Returns 0, or
 * a negative errno if its bytes could not be stored.
 */
int series_write(struct series *series, struct json_writer *json);
void series_done(struct series *series);
