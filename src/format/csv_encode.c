/* CSV: one line per sample, the columns of a layout (csv_columns.def). */
#include "format/sample_format.h"

#include "format/csv_layout.h"

static const struct csv_layout *csv_layout_of(const struct format_options *options)
{
	const struct csv_layout *layout = options->layout ? csv_layout_find(options->layout) : NULL;

	return layout ? layout : &CSV_LAYOUT[CSV_LAYOUT_combined];
}

static void end_csv_line(struct buffer *out, const struct csv_layout *layout)
{
	buffer_add_text(out, layout->style == PYTHON_CRLF ? "\r\n" : "\n");
}

static void csv_begin(struct buffer *out, const struct format_options *options)
{
	const struct csv_layout *layout = csv_layout_of(options);
	const char *quote = layout->style == PLAIN ? "" : "\"";

	if (!options->header)
		return;
	for (size_t i = 0; i < layout->column_count; i++)
		buffer_printf(out, "%s%s%s%s", i ? "," : "", quote, layout->columns[i].heading, quote);
	end_csv_line(out, layout);
}

static void write_csv_number(struct buffer *out, double value, int decimals, enum csv_style style)
{
	if (style == PLAIN)
		buffer_add_real_fixed(out, value, decimals);
	else
		buffer_add_real(out, value, decimals);
}

static void write_cell(struct buffer *out, const struct row *row, const struct csv_column *column,
		       enum csv_style style)
{
	const struct metric *metric = csv_column_metric(column);

	if (!row || field_absent(row, metric->type, column->offset)) {
		buffer_add_text(out, style == PLAIN ? "" : "\"\"");
		return;
	}
	switch (metric->type) {
	case TYPE_REAL:
		write_csv_number(out, *row_real(row, column->offset) * column->factor, column->decimals,
				 style);
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

static void csv_sample(struct buffer *out, const struct frame *frame, const struct format_options *options,
		       struct format_state *state)
{
	const struct csv_layout *layout = csv_layout_of(options);

	for (size_t i = 0; i < layout->column_count; i++) {
		if (i)
			buffer_add_char(out, ',');
		write_cell(out, frame->first[layout->columns[i].kind], &layout->columns[i], layout->style);
	}
	end_csv_line(out, layout);
	state->started = true;
}

const struct sample_format CSV_FORMAT = {"csv", csv_begin, csv_sample};
