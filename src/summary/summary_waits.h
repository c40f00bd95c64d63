/* The waits of the job: the rows of the end of the run, or of its samples while it has none. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "metric/frame.h"
#include "metric/metric_set.h"
#include "resource_tracker_analysis.h"

struct buffer;

/* Those of a recorder: 48 with one row for each class. */
enum { SUMMARY_WAITS_MOST = 64 };

struct summary_wait {
	char class[16], target[64]; /* "": none */
	char program[32];           /* "others": those of a class that have no row of their own */
	double secs;
	int64_t looks;
};

struct summary_wait_list {
	struct summary_wait list[SUMMARY_WAITS_MOST]; /* the longest first */
	size_t count;
};

struct summary_waits {
	struct summary_wait_list by_program;
	struct summary_wait_list
		by_target; /* of several programs together, with the one that waited longest */
	bool has_end;
};

void summary_waits_want(struct metric_set *wanted);
void summary_waits_add(struct summary_waits *waits, const struct frame *frame);
void summary_waits_finish(struct summary_waits *waits);

/* As rt_summary_wait(). `run_secs`: recorded time of the run. */
int summary_waits_get(const struct summary_waits *waits, double run_secs, size_t index,
		      struct rt_wait_use *ret_use);
/* Writes the array. */
void summary_waits_json(struct buffer *out, const struct summary_waits *waits, double run_secs);

/* The thing in words: "TCP port 5432 of another machine". */
const char *summary_wait_words(const struct summary_wait *wait, char *text, size_t size);
