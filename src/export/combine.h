/* Several recordings on their way to one: combine.c handles samples, combine_identity.c start and end. */
#pragma once

#include "base/buffer.h"
#include "export/output.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "record/reader.h"

enum { KIND_COUNT = 8, HOST_BYTES = 256 };

/* A value of one recording in a tick. */
struct cell {
	double sum;  /* sum of changes, or of rates times seconds */
	double secs; /* length of the samples in `sum` */
	double last; /* NaN: absent */
};

struct part {
	const char *path;
	struct record *record;
	const struct frame *frame; /* read but not yet used; NULL after the last */
	struct cell cells[KIND_COUNT][METRICS_PER_KIND];
	struct frame gpus; /* the GPU rows of the last sample */
	char host[HOST_BYTES], memory_source[32], net_source[16], job_name[HOST_BYTES];
	double first_timestamp, interval_secs, started;
	int64_t pid, rank;
	bool has_own_pressure; /* its stall times are those of its control group, not of the machine */
	bool gone;
};

struct combination {
	struct part *parts;
	size_t count;
	double tick_secs, started, last_timestamp;
	int64_t samples;
	bool unnamed;      /* a recording does not name its host */
	bool own_pressure; /* a part has its own group's stall times in this tick, so the machine's do not count */
	struct output output;
	struct buffer line;
	struct rt_problem *problem;
};

/* Adds run_start: the values that all parts share, and the sums of the machines. */
void combined_start(const struct combination *combination, struct frame *frame);

/* How the sum of two counts was counted; `one` may be NULL. */
const char *combined_net_source(const char *one, const char *other);

/* Adds run_end: the worst end, and sums. Adds nothing if a part has no end. */
void combined_end(const struct combination *combination, struct frame *frame, double timestamp);
