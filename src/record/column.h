/*
 * A value of a recording by name.
 *
 *   "cpu.process_cores_used", "memory.used_mib"     full names, as `resource-tracker metrics` lists them
 *   "process_cpu_usage", "system_disk_read_bytes"   headings of the combined CSV layout
 *   "process_rss_mib"                               the last part alone, where only one metric has it
 *   "disk[nvme0n1].read_bytes_per_sec", "gpu[0].utilization_pct", "disk[sda].mounts[/home].used_pct",
 *   "cpu.per_core_pct[3]"                           one of several: by its key, or by its position from 0
 *   "network[sum].rx_bytes_per_sec"                 sum, mean or max over all that are there
 */
#pragma once

#include "metric/frame.h"
#include "record/metric_set.h"
#include "record/problem.h"
#include "record/problem.h"

enum { INSTANCE_BYTES = 256, INSTANCE_DEPTH = 2 };

enum instance_choice { INSTANCE_ONLY, INSTANCE_KEY, INSTANCE_SUM, INSTANCE_MEAN, INSTANCE_MAX };

struct record_column {
	enum row_kind kind;
	size_t index; /* of the metric in its kind */
	enum instance_choice choice;
	int depth; /* number of keys that follow, outermost first */
	char keys[INSTANCE_DEPTH][INSTANCE_BYTES];
};

/* -ENOENT: no such metric; the problem names the nearest one. -EINVAL: it needs an instance, or has none. */
int record_column_find(const char *name, struct record_column *ret_column, struct rt_problem *problem);

static inline const struct metric *record_column_metric(const struct record_column *column)
{
	return &ROW_DESCRIPTIONS[column->kind].metrics[column->index];
}

static inline void record_column_want(const struct record_column *column, struct metric_set *wanted)
{
	metric_set_add(wanted, column->kind, column->index);
}

/* RT_CELL_NONE: absent, or no such instance in this sample. Texts live as long as the frame. */
struct rt_cell record_column_cell(const struct record_column *column, const struct frame *frame);

/* The same as a number; NaN when absent or a text. */
double record_column_real(const struct record_column *column, const struct frame *frame);
