/*
 * The values of one column, packed for the page: page/decode.js is the other end.
 *
 * Values are whole multiples of the metric's last decimal, so nothing is lost. The bytes are numbers in LEB128:
 *   0 n   n samples without a value
 *   1 n   n times the last value again
 *   t     t > 1: the last value and the change whose zigzag code is t - 1 (1: -1, 2: +1, 3: -2, ...)
 * The value before the first is 0.
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
	uint64_t absent, same; /* runs that are not written yet; one of them is 0 */
	bool any;              /* a value is there */
	struct buffer bytes;
};

/* 0 or the error of record_column_find(). */
int series_begin(struct series *series, const char *name, struct rt_problem *problem);
void series_add(struct series *series, const struct frame *frame);
/* Forgets the values: another run begins. */
void series_clear(struct series *series);
/* {"column":...,"unit":...,"help":...,"decimals":...,"data":base64}; ends the series. Negative errno of its bytes. */
int series_write(struct series *series, struct json_writer *json);
void series_done(struct series *series);
