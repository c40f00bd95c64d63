/*
 * Asks the recorder for facts that only it can find out about this machine: it runs for a moment, and its
 * samples are read.
 */
#pragma once

#include <stdbool.h>

#include "metric/frame.h"
#include "metric/metric_set.h"

/*
 * Runs it on the machine below `root_dir` with these options beside those of its output, until `take` is content with a
 * sample, in at most 6 s. False: the recorder cannot be found or started, or no sample was good enough.
 */
bool ask_recorder(const char *root_dir, const char *const *options, const struct metric_set *wanted,
		  bool (*take)(const struct frame *frame, void *context), void *context);
