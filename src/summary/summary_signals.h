/* The signals of --signal-at in words: those that were sent, with their time, and those that were not, with the reason. */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"

struct summary_signals {
	char words[512]; /* "": --signal-at was not given */
};

void summary_signals_want(struct metric_set *wanted);
void summary_signals_add(struct summary_signals *signals, const struct frame *frame);
