/*
 * The statistics of recordings and tables as a two-level map {column: {name: value}}; see resource_tracker_analysis.h.
 */
#pragma once

#include "record/problem.h"
#include "table/aggregate.h"

/* One entry after the other; entries of a column stand together. */
struct stats_entry {
	char *column;
	char *name;
	struct rt_cell value; /* never a text */
};

struct rt_stats {
	struct stats_entry *entries;
	size_t count;
};

/* NULL without memory. */
rt_stats *stats_new(void);
/* Replaces an entry of the same names. 0 or -ENOMEM. */
int stats_set(rt_stats *stats, const char *column, const char *name, struct rt_cell value);
