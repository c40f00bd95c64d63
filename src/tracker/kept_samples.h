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

enum { KEPT_NAMES_MOST = 128 };

struct kept_column {
	enum row_kind kind;
	size_t offset;              /* in the typed row */
	double scale;               /* integer = value x scale */
	struct metric_place *place; /* which one, where a sample may have several. NULL: only one */
	char *name;                 /* with its brackets, as the caller wrote it. NULL: without brackets */
};

struct kept_samples {
	struct kept_column *columns; /* NULL: no sample is kept */
	size_t column_count;
	int64_t keep;
	int64_t *row; /* one row while it is filled */
	struct int_columns rows;
};

/* Names with brackets, such as disk[vda].read_bytes, that were checked. */
struct kept_names {
	char *names[KEPT_NAMES_MOST];
	struct metric_place places[KEPT_NAMES_MOST];
	size_t count;
};

/*
 * `selection` says which metrics to keep. NULL: those of the CSV layouts. The time stamps and the number of
 * each sample are always kept. Returns 0 or -ENOMEM.
 */
int kept_samples_open(struct kept_samples *kept, int64_t keep, const struct selection *selection,
		      const struct kept_names *names);
void kept_samples_close(struct kept_samples *kept);
void kept_samples_add(struct kept_samples *kept, const struct frame *frame);

/* Returns the index of the column that keeps a metric, or -ENOENT. */
ssize_t kept_samples_find(const struct kept_samples *kept, enum row_kind kind, size_t offset);
