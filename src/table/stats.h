/*
 * The statistics of recordings and tables as a two-level map {column: {name: value}}. See
 * resource_tracker_analysis.h.
 */
#pragma once

#include <string.h>

#include "record/problem.h"
#include "resource_tracker_internal.h"
#include "table/aggregate.h"

/* A list of entries. Those of one column are neighbours. */
struct stats_entry {
	char *column;
	char *name;
	struct rt_value value; /* never a text */
};

struct rt_stats {
	struct stats_entry *entries;
	size_t count;
};

/* Returns NULL if memory runs out. */
rt_stats *stats_new(void);
/* Adds an entry, or replaces the one with the same names. Returns 0 or -ENOMEM. */
int stats_set(rt_stats *stats, const char *column, const char *name, struct rt_value value);

/* Whether an entry is about the same column as the one before it. */
static inline bool stats_same_column(const struct rt_stats *stats, size_t i)
{
	return i && strcmp(stats->entries[i].column, stats->entries[i - 1].column) == 0;
}
