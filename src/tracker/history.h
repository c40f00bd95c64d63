/*
 * The samples of a tracker by column, in memory (rt_config_set_history()). Each number is an integer in steps
 * of its last decimal.
 */
#pragma once

#include <sys/types.h>

#include "format/csv_layout.h"
#include "metric/frame.h"
#include "metric/place.h"
#include "metric/selection.h"
#include "tracker/int_columns.h"

enum { HISTORY_NAMES_MOST = 128 };

struct history_column {
	enum row_kind kind;
	size_t offset;              /* in the typed row */
	double scale;               /* integer = value x scale */
	struct metric_place *place; /* which one, where a sample may have several; NULL: only one */
	char *name;                 /* with its brackets, as the caller wrote it; NULL: without brackets */
};

struct history {
	struct history_column *columns; /* NULL: no history is kept */
	size_t column_count;
	int64_t keep;
	int64_t *row; /* one row while it is filled */
	struct int_columns rows;
};

/* Names with brackets, such as disk[vda].read_bytes, that were checked. */
struct history_names {
	char *names[HISTORY_NAMES_MOST];
	struct metric_place places[HISTORY_NAMES_MOST];
	size_t count;
};

/*
 * `selection` says which metrics to keep; NULL: those of the CSV layouts. The time stamps and the number of
 * each sample are always kept. Returns 0 or -ENOMEM.
 */
int history_open(struct history *history, int64_t keep, const struct selection *selection,
		 const struct history_names *names);
void history_close(struct history *history);
void history_add(struct history *history, const struct frame *frame);

/* Returns the index of the column that keeps a metric, or -ENOENT. */
ssize_t history_find(const struct history *history, enum row_kind kind, size_t offset);
