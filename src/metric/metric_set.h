/*
 * Which metrics of the catalogue are wanted: readers step over all others.
 */
#pragma once

#include "metric/catalogue.h"

enum { METRICS_PER_KIND = 64 };

/*
 * No quantity of the catalogue is larger in its unit (10^15 MiB are 10^21 bytes). A larger number in a recording is damage:
 * it is absent, so that sums, products and means of what is read stay finite.
 */
#define RECORDED_MOST 1e15

struct metric_set {
	uint64_t bits[ROW_KINDS]; /* bit i: metric i of the kind */
};

static inline bool metric_set_has(const struct metric_set *set, enum row_kind kind, size_t index)
{
	return set->bits[kind] >> index & 1;
}

static inline void metric_set_add(struct metric_set *set, enum row_kind kind, size_t index)
{
	set->bits[kind] |= UINT64_C(1) << index;
}

static inline void metric_set_add_kind(struct metric_set *set, enum row_kind kind)
{
	set->bits[kind] = UINT64_MAX;
}

static inline void metric_set_add_all(struct metric_set *set)
{
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		metric_set_add_kind(set, kind);
}

#define METRIC_INDEX(kind, field) ((offsetof(struct kind##_row, field) - sizeof(struct row)) / 8)

/* WANT(&set, tree, process_rss_mib) */
#define WANT(set, kind, field) metric_set_add(set, ROW_##kind, METRIC_INDEX(kind, field))
