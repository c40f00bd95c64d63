/* The figures of a run that has ended, for OTLP's record of the end: resource-tracker-analysis makes the line of the run. */
#pragma once

#include "base/buffer.h"
#include "net/patience.h"

/*
 * Adds the line of the last run in the recording that is open as `fd`. Without the analysis, and if it takes longer than two
 * seconds or half of the patience that is left, the text stays empty: the end is told without them.
 */
void read_end_figures(struct buffer *ret_line, int fd, struct patience *patience);
