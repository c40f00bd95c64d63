/* CSV: one line per sample, the columns of csv_columns.def; an unknown value is an empty field. */
#include "sink/sink.h"

#include <string.h>

#include "base/cleanup.h"

struct column {
	const char *heading;
	enum row_kind kind;
	size_t offset;
	int decimals;
};

#define LAYOUT_BEGIN(name, quoted_header) static const struct column combined_columns[] = {
#define COLUMN(heading, kind, field, decimals) {heading, ROW_##kind, offsetof(struct kind##_row, field), decimals},
#define LAYOUT_END                                                                                             \
	}                                                                                                      \
	;
#include "metric/csv_columns.def"

static void csv_begin(struct buffer *out, const struct sink_options *options)
{
	if (!options->header)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(combined_columns); i++) {
		if (i)
			buffer_add_char(out, ',');
		buffer_add_text(out, combined_columns[i].heading);
	}
	buffer_add_char(out, '\n');
}

static void write_cell(struct buffer *out, const struct row *row, const struct column *column)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[column->kind];
	const struct metric *metric = &description->metrics[(column->offset - sizeof(struct row)) / 8];

	if (!row || field_absent(row, metric->type, column->offset))
		return;
	switch (metric->type) {
	case TYPE_REAL:
		buffer_add_real_fixed(out, *row_real(row, column->offset), column->decimals);
		break;
	case TYPE_COUNT:
	case TYPE_FLAG:
		buffer_add_i64(out, *row_count(row, column->offset));
		break;
	case TYPE_TEXT:
		buffer_add_text(out, *row_text(row, column->offset));
		break;
	}
}

static void csv_sample(struct buffer *out, const struct frame *frame, const struct sink_options *options,
		       struct sink_state *state)
{
	(void)options;
	for (size_t i = 0; i < ARRAY_SIZE(combined_columns); i++) {
		if (i)
			buffer_add_char(out, ',');
		write_cell(out, frame->first[combined_columns[i].kind], &combined_columns[i]);
	}
	buffer_add_char(out, '\n');
	state->started = true;
}

const struct sink_format CSV_FORMAT = {"csv", csv_begin, csv_sample};
