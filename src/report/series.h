/*
 * The values of one column, packed for the page; page/decode.js unpacks them.
 *
 * A value is stored as a whole multiple of the metric's last decimal, so nothing is lost. The bytes are
 * numbers in LEB128:
 *   0 n   n samples without a value
 *   1 n   the last value n more times
 *   t     t > 1: the last value plus a change; t - 1 is the zigzag code of the change (1: -1, 2: +1, 3: -2, ...)
 * The value before the first sample is 0.
 */
#pragma once

#include "base/buffer.h"
#include "base/json_write.h"
#include "record/column.h"

struct series {
	const char *name;
	struct metric_place column;
	double scale; /* value x scale is whole */
	int64_t last;
	uint64_t absent, same; /* lengths of runs not yet written; at least one is 0 */
	bool any;              /* a value has been added */
	struct buffer bytes;
};

/* Begins a series. Returns 0 or the error of record_column_find(). */
int series_begin(struct series *series, const char *name, struct rt_problem *problem);
/* Begins a series whose column is known. */
void series_of_place(struct series *series, const char *name, const struct metric_place *column);
void series_add(struct series *series, const struct frame *frame);
void series_add_value(struct series *series, double value); /* NaN: none */
/* Begins with this number of samples without a value. */
void series_add_absent(struct series *series, uint64_t samples);
/* Drops the values before another run begins. */
void series_clear(struct series *series);
/*
 * Writes {"column":...,"unit":...,"help":...,"decimals":...,"data":base64} and ends the series. Returns 0, or
 * a negative errno if its bytes could not be stored.
 */
int series_write(struct series *series, struct json_writer *json);
void series_done(struct series *series);
