/* The CSV layouts (csv_columns.def) as data, for the CSV writer and the reader. */
#pragma once

#include "metric/catalogue.h"
#include "metric/metric_set.h"

enum csv_style { PLAIN, PYTHON, PYTHON_CRLF };

struct csv_column {
	const char *heading;
	enum row_kind kind;
	size_t offset; /* in the typed row */
	int decimals;  /* of reals and scaled values */
	double factor; /* cell = metric x factor */
};

struct csv_layout {
	const char *name;
	enum csv_style style;
	const struct csv_column *columns;
	size_t column_count;
};

enum csv_layout_id {
#define LAYOUT_BEGIN(id, name, style) CSV_LAYOUT_##id,
#include "format/csv_columns.def"
	CSV_LAYOUTS
};

extern const struct csv_layout CSV_LAYOUT[CSV_LAYOUTS];

/* Finds a layout by name ("combined", "system-0.4", ...). NULL: unknown. */
const struct csv_layout *csv_layout_find(const char *name);

static inline const struct metric *csv_column_metric(const struct csv_column *column)
{
	return &ROW_DESCRIPTIONS[column->kind].metrics[metric_index_at(column->offset)];
}

/* Adds the metrics of all columns. */
static inline void csv_want(struct metric_set *wanted, const struct csv_layout *layout)
{
	for (size_t i = 0; i < layout->column_count; i++)
		metric_set_add(wanted, layout->columns[i].kind, metric_index_at(layout->columns[i].offset));
}
