/* The CSV layouts as data. See csv_layout.h. */
#include "format/csv_layout.h"

#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"

#define LAYOUT_BEGIN(id, name, style) static const struct csv_column id##_columns[] = {
#define SCALED(heading, kind, field, decimals, factor) \
	{heading, ROW_##kind, offsetof(struct kind##_row, field), decimals, factor},
#define LAYOUT_END(id) \
	} \
	;
#include "format/csv_columns.def"

const struct csv_layout CSV_LAYOUT[CSV_LAYOUTS] = {
#define LAYOUT_BEGIN(id, name, style) \
	[CSV_LAYOUT_##id] = {name, style, id##_columns, ARRAY_SIZE(id##_columns)},
#include "format/csv_columns.def"
};

const struct csv_layout *csv_layout_find(const char *name)
{
	for (size_t i = 0; i < CSV_LAYOUTS; i++)
		if (strcmp(name, CSV_LAYOUT[i].name) == 0)
			return &CSV_LAYOUT[i];
	return NULL;
}
