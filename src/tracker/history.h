/*
 * The samples of a tracker by column, in memory (rt_config_set_history()): numbers, as integers in steps of their last
 * decimal.
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
	size_t offset;              /* of the metric in the typed row */
	double scale;               /* the integer is the value times this */
	struct metric_place *place; /* of which a sample may have several; NULL */
	char *name;                 /* as it was asked for, then */
};

struct history {
	struct history_column *columns; /* NULL: no history is kept */
	size_t column_count;
	int64_t keep;
	int64_t *row; /* one, while it is filled */
	struct int_columns rows;
};

/* Columns with brackets in their names, checked. */
struct history_names {
	char *names[HISTORY_NAMES_MOST];
	struct metric_place places[HISTORY_NAMES_MOST];
	size_t count;
};

/*
 * `selection`: of what is kept; NULL: what the CSV layouts have. What there is of a sample itself (its time stamps and
 * number) is always kept. 0 or -ENOMEM.
 */
int history_open(struct history *history, int64_t keep, const struct selection *selection,
		 const struct history_names *names);
void history_close(struct history *history);
void history_add(struct history *history, const struct frame *frame);

/* The index of the column that keeps a metric; -ENOENT. */
ssize_t history_find(const struct history *history, enum row_kind kind, size_t offset);
