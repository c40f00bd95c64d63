/*
 * Finds a value of a recording by name. A name is a full name, with or without brackets (metric/place.h), or
 *    "process_cpu_usage", "system_disk_read_bytes"   a heading of the combined CSV layout
 *    "process_rss_mib"                               the last part alone, if only one metric has it
 */
#pragma once

#include "metric/metric_set.h"
#include "metric/place.h"
#include "record/problem.h"

/*
 * Returns -ENOENT if no metric has the name. The problem then suggests the nearest one. Returns -EINVAL if
 * the name needs an instance in brackets, or must not have one.
 */
int record_column_find(const char *name, struct metric_place *ret_column, struct rt_problem *problem);

static inline void record_column_want(const struct metric_place *column, struct metric_set *wanted)
{
	metric_set_add(wanted, column->kind, column->index);
}

/*
 * Returns RT_TYPE_NONE if the value is absent, or if the sample lacks the instance. Texts live as long as the
 * frame.
 */
struct rt_value record_column_cell(const struct metric_place *column, const struct frame *frame);

/* Returns the same as a number; NaN if it is absent or a text. */
double record_column_real(const struct metric_place *column, const struct frame *frame);
