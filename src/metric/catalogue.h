/*
 * The catalogue expanded: a typed struct for each row kind (struct disk_row, ...), and descriptions of all
 * kinds and metrics for generic code. Every field is 8 bytes wide; fields follow the row header directly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/absent.h"

enum row_kind {
#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) ROW_##kind,
#include "metric/catalogue.def"
	ROW_KINDS
};

enum row_shape { OBJECT, INLINE, OPTIONAL, ARRAY, LIST, MAP };

struct row {
	struct row *next;   /* of the same kind, in the order in which they were added */
	struct row *parent; /* NULL for the sample */
	int64_t read_ns;    /* CLOCK_MONOTONIC of its counters; 0: as the frame's */
	enum row_kind kind;
	int number;          /* tells rows without a name, or of one name, apart */
	int cpus;            /* whose times its counters add up; 0: as the frame's */
	double counted_secs; /* all time that the kernel counted for them, idle or not; 0: it does not say */
	double most_bytes;   /* that the device can move in a second; 0: unknown */
};

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	struct kind##_row { \
		struct row row;
#define REAL(kind, name, unit, decimals, nature, help) double name;
#define COUNT(kind, name, unit, nature, help) int64_t name;
#define TEXT(kind, name, help) const char *name;
#define FLAG(kind, name, help) int64_t name;
#define RAW_REAL(kind, name, help) double name;
#define RAW_COUNT(kind, name, help) int64_t name;
#define DELTA_REAL(kind, name, unit, decimals, from, help) double name;
#define DELTA_COUNT(kind, name, unit, from, help) int64_t name;
#define CHANGE_REAL(kind, name, unit, decimals, help) double name;
#define CHANGE_COUNT(kind, name, unit, help) int64_t name;
#define RATE(kind, name, unit, decimals, from, help) double name;
#define EXACT_RATE(kind, name, unit, decimals, from, help) double name;
#define SUM_DELTA(kind, name, unit, of_kind, from, help) int64_t name;
#define SUM_RATE(kind, name, unit, decimals, of_kind, from, help) double name;
#define ROW_END(kind) \
	} \
	;
#include "metric/catalogue.def"

enum metric_type { TYPE_REAL = 1, TYPE_COUNT, TYPE_TEXT, TYPE_FLAG };
enum metric_nature {
	COUNTER,
	GAUGE,
	IDENTITY,
	RAW,
	DELTA,
	RATE_WINDOWED,
	RATE_EXACT,
	SUM_OF_DELTAS,
	SUM_OF_RATES
};

struct metric {
	const char *name;
	const char *unit;
	const char *help;
	enum metric_type type;
	enum metric_nature nature;
	int decimals;
	enum row_kind from_kind; /* of derived metrics: the row kind that has `from_offset` */
	unsigned from_offset;    /* 0: assigned by the collector */
	unsigned counted_offset; /* of a sum of changes: the field that is 1 in rows that are part of it */
};

static inline bool metric_is_change(const struct metric *metric)
{
	return metric->nature == DELTA || metric->nature == SUM_OF_DELTAS;
}

static inline bool metric_is_rate(const struct metric *metric)
{
	return metric->nature == RATE_WINDOWED || metric->nature == RATE_EXACT ||
	       metric->nature == SUM_OF_RATES;
}

struct row_description {
	const char *name; /* of the kind */
	const char *key;
	const char *source;
	const char *cost; /* system calls for one sample */
	const char *help;
	enum row_kind parent;
	enum row_shape shape;
	const struct metric *metrics;
	size_t metric_count;
	size_t size;       /* of the typed struct */
	size_t key_offset; /* of the text that identifies a row from tick to tick; 0: their order does */
};

extern const struct row_description ROW_DESCRIPTIONS[ROW_KINDS];

static inline size_t metric_offset(size_t index)
{
	return sizeof(struct row) + index * 8;
}

static inline double *row_real(const struct row *row, size_t offset)
{
	return (double *)((char *)(uintptr_t)row + offset);
}

static inline int64_t *row_count(const struct row *row, size_t offset)
{
	return (int64_t *)((char *)(uintptr_t)row + offset);
}

static inline const char **row_text(const struct row *row, size_t offset)
{
	return (const char **)((char *)(uintptr_t)row + offset);
}

/* Returns the reason why a field is absent, or 0. */
int field_absent(const struct row *row, enum metric_type type, size_t offset);
void field_set_absent(struct row *row, enum metric_type type, size_t offset, int reason);
/* Makes all fields of a row absent. */
void row_set_absent(struct row *row, int reason);

/*
 * "disk.mounts.used_pct": the keys on the way to the row, then the metric. Returns the length, like snprintf.
 */
int metric_full_name(enum row_kind kind, size_t index, char *ret_name, size_t size);
/* "disk.mounts", "cpu", or "" at the top. INLINE kinds have the path of their parent. */
int row_path(enum row_kind kind, char *ret_path, size_t size);
