/* The waits of the job: the rows of the end of the run, those of one thing together. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "metric/frame.h"
#include "metric/metric_set.h"

enum { SUMMARY_WAITS_MOST = 40 };

struct summary_wait {
	char class[16], target[64]; /* "": none */
	char program[32];           /* that waited longest */
	double secs;
	int64_t looks;
};

struct summary_waits {
	struct summary_wait list[SUMMARY_WAITS_MOST]; /* the longest first */
	size_t count;
};

void summary_waits_want(struct metric_set *wanted);
void summary_waits_add(struct summary_waits *waits, const struct frame *frame);

/* The thing in words: "TCP port 5432 of another machine". */
const char *summary_wait_words(const struct summary_wait *wait, char *text, size_t size);
