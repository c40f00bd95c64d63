/*
 * The statistics of recordings and tables as a two-level map {column: {name: value}}; see
 * resource_tracker_analysis.h.
 */
#pragma once

#include "record/problem.h"
#include "resource_tracker_internal.h"
#include "table/aggregate.h"

/* A list of entries; those of one column are neighbours. */
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
