/*
 * A value of a recording by name: full names and those with brackets (metric/place.h), and
 *
 *   "process_cpu_usage", "system_disk_read_bytes"   headings of the combined CSV layout
 *   "process_rss_mib"                               the last part alone, where only one metric has it
 */
#pragma once

#include "metric/metric_set.h"
#include "metric/place.h"
#include "record/problem.h"

/* -ENOENT: no such metric; the problem names the nearest one. -EINVAL: it needs an instance, or has none. */
int record_column_find(const char *name, struct metric_place *ret_column, struct rt_problem *problem);

static inline void record_column_want(const struct metric_place *column, struct metric_set *wanted)
{
	metric_set_add(wanted, column->kind, column->index);
}

/* RT_CELL_NONE: absent, or no such instance in this sample. Texts live as long as the frame. */
struct rt_cell record_column_cell(const struct metric_place *column, const struct frame *frame);

/* The same as a number; NaN when absent or a text. */
double record_column_real(const struct metric_place *column, const struct frame *frame);
