/*
 * Which metrics of the catalogue are wanted: readers step over all others.
 */
#pragma once

#include "metric/catalogue.h"

enum { METRICS_PER_WORD = 64, METRIC_WORDS = 2, METRICS_PER_KIND = METRIC_WORDS * METRICS_PER_WORD };

/*
 * No quantity of the catalogue is larger in its unit (10^15 MiB are 10^21 bytes). A larger number in a recording is damage:
 * it is absent, so that sums, products and means of what is read stay finite.
 */
#define RECORDED_MOST 1e15

struct metric_set {
	uint64_t words[ROW_KINDS][METRIC_WORDS]; /* bit i: metric i of the kind */
};

static inline bool metric_set_has(const struct metric_set *set, enum row_kind kind, size_t index)
{
	return set->words[kind][index / METRICS_PER_WORD] >> index % METRICS_PER_WORD & 1;
}

static inline void metric_set_add(struct metric_set *set, enum row_kind kind, size_t index)
{
	set->words[kind][index / METRICS_PER_WORD] |= UINT64_C(1) << index % METRICS_PER_WORD;
}

static inline void metric_set_add_kind(struct metric_set *set, enum row_kind kind)
{
	for (size_t i = 0; i < METRIC_WORDS; i++)
		set->words[kind][i] = UINT64_MAX;
}

static inline bool metric_set_has_kind(const struct metric_set *set, enum row_kind kind)
{
	bool any = false;

	for (size_t i = 0; i < METRIC_WORDS; i++)
		any |= set->words[kind][i] != 0;
	return any;
}

/* Adds the metrics of a kind that another set has. */
static inline void metric_set_join_kind(struct metric_set *set, const struct metric_set *more,
					enum row_kind kind)
{
	for (size_t i = 0; i < METRIC_WORDS; i++)
		set->words[kind][i] |= more->words[kind][i];
}

static inline void metric_set_add_all(struct metric_set *set)
{
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		metric_set_add_kind(set, kind);
}

/* The index of the metric at an offset in its typed row. */
static inline size_t metric_index_at(size_t offset)
{
	return (offset - sizeof(struct row)) / 8;
}

/* A constant, for initializers. */
#define METRIC_INDEX(kind, field) ((offsetof(struct kind##_row, field) - sizeof(struct row)) / 8)

/* WANT(&set, tree, process_rss_mib) */
#define WANT(set, kind, field) metric_set_add(set, ROW_##kind, METRIC_INDEX(kind, field))
