/*
 * The statistics of recordings and tables as a two-level map {column: {name: value}}. See
 * resource_tracker_analysis.h.
 */
#pragma once

#include <string.h>

#include "metric/frame.h"
#include "metric/metric_set.h"
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

/* The statistics of the last run of a recording that is being read, perhaps for something else as well. */
struct gatherings;
struct record;

/* Adds the metrics that the specifications need to `wanted`. Their texts must outlive the gatherings. */
int gatherings_new(const struct rt_stat_spec *specs, size_t spec_count, struct metric_set *wanted,
		   struct gatherings **ret_gatherings, struct rt_problem *ret_problem);
/* Adds a sample of a run. `gatherings` is void because a reader of samples calls it (summary/summary.h). */
void gatherings_add(void *gatherings, const struct frame *frame, size_t run);
/* Computes the statistics of what the record has been read to. */
int gatherings_finish(const struct gatherings *gatherings, const struct record *record, rt_stats **ret_stats,
		      struct rt_problem *ret_problem);
/* NULL is allowed. */
void gatherings_free(struct gatherings *gatherings);

static inline void gatherings_cleanup(struct gatherings **gatherings)
{
	gatherings_free(*gatherings);
}
#define CLEANUP_GATHERINGS __attribute__((cleanup(gatherings_cleanup)))
