/*
 * Descriptions of all row kinds and metrics, for generic code: formats, statistics, the reader of recordings. Every field of a row is 8
 * bytes wide, and the fields follow the row header directly. metric/typed_rows.h has a typed struct for each kind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/absent.h"
#include "metric/row.h"

enum row_shape { OBJECT, INLINE, OPTIONAL, ARRAY, LIST, MAP, EVENTS }; /* from ARRAY on: any number of rows */

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
