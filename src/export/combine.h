/* Several recordings on their way to one: shared by combine.c (samples) and combine_identity.c (start and end). */
#pragma once

#include "base/buffer.h"
#include "export/output.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "record/reader.h"

enum { KIND_COUNT = 8, HOST_BYTES = 256 };

/* A value of one recording in a tick. */
struct cell {
	double sum;  /* of changes; of rates times seconds */
	double secs; /* that the rates stand for */
	double last; /* NaN: absent */
};

struct part {
	const char *path;
	struct record *record;
	const struct frame *frame; /* not yet taken; NULL after the last */
	struct cell cells[KIND_COUNT][METRICS_PER_KIND];
	struct frame gpus; /* of the last sample, these rows alone */
	char host[HOST_BYTES], memory_source[32], job_name[HOST_BYTES];
	double first_timestamp, interval_secs, started;
	int64_t pid, rank;
	bool has_own_pressure; /* its stall times are of its own control group, not of the machine */
	bool gone;
};

struct combination {
	struct part *parts;
	size_t count;
	double tick_secs, started, last_timestamp;
	int64_t samples;
	bool own_pressure; /* in this tick some part has stall times of its own group: the machine's do not count then */
	struct output output;
	struct buffer line;
	struct rt_problem *problem;
};

/* Adds run_start: the values that all parts share, and the sums of the machines. */
void combined_start(const struct combination *combination, struct frame *frame);

/* Adds run_end: the worst end, and sums. Nothing if a part has no end. */
void combined_end(const struct combination *combination, struct frame *frame, double timestamp);
