/*
 * Asks the recorder for facts about this machine that only it can find out: runs it for a moment and reads its
 * samples.
 */
#pragma once

#include <stdbool.h>

#include "metric/frame.h"
#include "metric/metric_set.h"

/*
 * Runs it on the machine below `root_dir` with these options, until `take` accepts a sample, for at most 6 s.
 * Returns false if the recorder cannot be found or started, or no sample was accepted.
 */
bool ask_recorder(const char *root_dir, const char *const *options, const struct metric_set *wanted,
		  bool (*take)(const struct frame *frame, void *context), void *context);
