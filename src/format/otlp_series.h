/*
 * The time series of a run (otlp_series.def): samples in, points out. Pure.
 *
 * A run's samples hold changes and come often; a receiver wants totals, and seldom. So a run adds the changes up and
 * makes a point of all series at the first sample of each step, and at the end. Between two points nothing of a
 * counter is lost.
 *
 *   start          a point of value 0 of each counter, so that increase() sees the first step
 *   each step      the totals and the values of that sample
 *   end            the same, and the series of the group END
 *   end + 1 ms     a mark that each series has ended, so that no graph draws its last value any further
 *
 * The state of a run is kept as text, so that another process can go on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/frame.h"
#include "metric/metric_set.h"

enum otlp_form { OTLP_SUM, OTLP_LEVEL, OTLP_MEASURE };
enum otlp_group { OTLP_JOB, OTLP_GPU, OTLP_MACHINE, OTLP_END };
enum otlp_way { OTLP_ADDED, OTLP_TAKEN, OTLP_KEPT, OTLP_MOST };

struct otlp_series {
	enum otlp_group group;
	const char *name;
	const char *unit;
	enum otlp_form form;
	const char *key; /* NULL: the only series of its name */
	const char *value;
	enum row_kind kind;
	size_t offset;
	enum otlp_way way;
	double factor;
};

enum {
#define SERIES(...) +1
	OTLP_SERIES_COUNT = 0
#include "format/otlp_series.def"
};

extern const struct otlp_series OTLP_SERIES[OTLP_SERIES_COUNT];

enum { OTLP_REASON_SIZE = 32, OTLP_MOST_STEPS = 240 };

struct otlp_run {
	int64_t step_ns;  /* 0: a point at each sample */
	bool machine;     /* with the series of the machine */
	int64_t start_ns; /* wall clock; 0: no sample yet */
	int64_t last_ns;  /* of the last sample; grows always */
	int64_t due_ns;   /* since the start: the next step */
	bool pending;     /* samples have come after the last point */
	uint64_t known;   /* series with a value */
	uint64_t sent;    /* series with a point */
	double values[OTLP_SERIES_COUNT];
	char reason[OTLP_REASON_SIZE]; /* of the end; "": none yet */
};

struct otlp_point {
	int64_t time_ns;
	uint64_t present;
	double values[OTLP_SERIES_COUNT];
};

/* The points of one request. Zero is an empty batch. */
struct otlp_batch {
	size_t count;
	uint64_t zero;  /* series whose first point is in this batch: they get a 0 at the start */
	uint64_t stale; /* series that end */
	int64_t start_ns;
	int64_t stale_ns;
	char reason[OTLP_REASON_SIZE];
	struct otlp_point points[OTLP_MOST_STEPS + 1];
};

/* Adds the metrics that the series come from. */
void otlp_want(struct metric_set *wanted);

/* Begins a run with its first sample, which is then fed like the others. */
void otlp_run_begin(struct otlp_run *ret_run, const struct frame *first, int64_t step_ns, bool machine);

/* Takes the next sample. Returns whether the batch is full: end it, and feed the next sample into another one. */
bool otlp_run_feed(struct otlp_run *run, const struct frame *sample, struct otlp_batch *batch);

/* Adds the last point, if one is missing, and the marks of the end. There is room for that in a full batch. */
void otlp_run_end(struct otlp_run *run, struct otlp_batch *batch);

void otlp_run_format(const struct otlp_run *run, struct buffer *out);
/* 0 or -EBADMSG. */
int otlp_run_parse(const char *text, size_t length, struct otlp_run *ret_run);
