/* Writes a row and the rows below it as JSON; see row_json.h. */
#include "report/row_json.h"

static void add_value(struct json_writer *json, const struct row *row, const struct metric *metric,
		      size_t offset)
{
	if (field_absent(row, metric->type, offset)) {
		json_absent(json);
		return;
	}
	switch (metric->type) {
	case TYPE_REAL:
		json_decimal(json, *row_real(row, offset), metric->decimals);
		break;
	case TYPE_COUNT:
		json_count(json, *row_count(row, offset));
		break;
	case TYPE_FLAG:
		json_flag(json, *row_count(row, offset) != 0);
		break;
	case TYPE_TEXT:
		json_text(json, *row_text(row, offset));
		break;
	}
}

static void add_member(struct json_writer *json, const struct row *row, const struct frame *frame)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	const char *name;

	switch (description->shape) {
	case LIST:
		add_value(json, row, &description->metrics[0], metric_offset(0));
		break;
	case MAP:
		name = *row_text(row, metric_offset(0));
		json_key(json, text_absent(name) ? "" : name);
		add_value(json, row, &description->metrics[1], metric_offset(1));
		break;
	default:
		row_json(json, row, frame);
	}
}

static void add_children(struct json_writer *json, const struct row *parent, enum row_kind kind,
			 const struct frame *frame)
{
	bool is_map = ROW_DESCRIPTIONS[kind].shape == MAP;

	json_key(json, ROW_DESCRIPTIONS[kind].key);
	json_open(json, is_map ? '{' : '[');
	for (const struct row *row = frame->first[kind]; row; row = row->next)
		if (row->parent == parent)
			add_member(json, row, frame);
	json_close(json, is_map ? '}' : ']');
}

void row_json(struct json_writer *json, const struct row *row, const struct frame *frame)
{
	const struct row_description *description;

	if (!row) {
		json_absent(json);
		return;
	}
	description = &ROW_DESCRIPTIONS[row->kind];
	json_open(json, '{');
	for (size_t i = 0; i < description->metric_count; i++) {
		if (description->metrics[i].nature == RAW)
			continue;
		json_key(json, description->metrics[i].name);
		add_value(json, row, &description->metrics[i], metric_offset(i));
	}
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		if (kind != row->kind && ROW_DESCRIPTIONS[kind].parent == row->kind)
			add_children(json, row, kind, frame);
	json_close(json, '}');
}
