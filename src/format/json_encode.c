/*
 * JSON Lines: one object per sample, in the shape of the catalogue.
 *
 *   {"timestamp_secs":1718000000,...,"cpu":{"utilization_pct":4.6,...},"memory":{...},"network":[{...}],...}
 */
#include "format/json_encode.h"
#include "format/sample_format.h"
#include "metric/typed_rows.h"

#include <string.h>

static void write_json_row(struct json_writer *json, const struct frame *frame, const struct row *row,
			   enum row_kind kind, bool brief);

static void write_field(struct json_writer *json, const struct row *row, const struct metric *metric,
			size_t offset)
{
	if (!row || field_absent(row, metric->type, offset)) {
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

/* Returns the next row of a kind below `parent`, from `row` on. */
static const struct row *next_row_below(const struct row *row, const struct row *parent)
{
	while (row && row->parent != parent)
		row = row->next;
	return row;
}

static void write_list(struct json_writer *json, const struct frame *frame, const struct row *parent,
		       enum row_kind kind, bool brief)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	char closing = description->shape == MAP ? '}' : ']';

	if (frame->missing[kind] && !next_row_below(frame->first[kind], parent)) {
		json_absent(json);
		return;
	}
	json_open(json, description->shape == MAP ? '{' : '[');
	for (const struct row *row = next_row_below(frame->first[kind], parent); row;
	     row = next_row_below(row->next, parent)) {
		switch (description->shape) {
		case LIST:
			write_field(json, row, &description->metrics[0], metric_offset(0));
			break;
		case MAP:
			/* The name is unwanted, so the pair is left out. */
			if (text_absent(*row_text(row, metric_offset(0))))
				break;
			json_key(json, *row_text(row, metric_offset(0)));
			write_field(json, row, &description->metrics[1], metric_offset(1));
			break;
		default:
			json_open(json, '{');
			/* No earlier sample has the words of an event. */
			write_json_row(json, frame, row, kind, brief && description->shape != EVENTS);
			json_close(json, '}');
			break;
		}
	}
	json_close(json, closing);
}

static void write_child(struct json_writer *json, const struct frame *frame, const struct row *parent,
			enum row_kind kind, bool brief)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	const struct row *row = parent ? next_row_below(frame->first[kind], parent) : NULL;

	if (description->shape == EVENTS && !row)
		return;
	if (description->shape == INLINE) {
		write_json_row(json, frame, row, kind, brief);
		return;
	}
	json_plain_key(json, description->key);
	switch (description->shape) {
	case OPTIONAL:
		if (!row) {
			json_absent(json);
			break;
		}
		/* The row is written once, so its identity fields were not written before. */
		brief = false;
		__attribute__((fallthrough));
	case OBJECT:
		json_open(json, '{');
		write_json_row(json, frame, row, kind, brief);
		json_close(json, '}');
		break;
	default:
		write_list(json, frame, parent, kind, brief);
		break;
	}
}

/* A brief sample leaves out unchanged identity fields and nulls. */
static bool is_left_out(const struct row *row, const struct metric *metric, size_t offset)
{
	return metric->nature == IDENTITY || !row || field_absent(row, metric->type, offset);
}

/* Writes the members of a row and the rows below it. For a NULL row it writes every key with null. */
static void write_json_row(struct json_writer *json, const struct frame *frame, const struct row *row,
			   enum row_kind kind, bool brief)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	/* The field that identifies an array's rows is always written. */
	size_t identities_from = description->key_offset ? 1 : 0;

	for (size_t i = 0; i < description->metric_count; i++) {
		const struct metric *metric = &description->metrics[i];

		if (metric->nature == RAW ||
		    (brief && i >= identities_from && is_left_out(row, metric, metric_offset(i))))
			continue;
		json_plain_key(json, metric->name);
		write_field(json, row, metric, metric_offset(i));
	}
	for (enum row_kind child = 0; child < ROW_KINDS; child++)
		if (child != ROW_sample && ROW_DESCRIPTIONS[child].parent == kind)
			write_child(json, frame, row, child, brief);
}

void write_row_json(struct json_writer *json, const struct frame *frame, const struct row *row)
{
	if (!row) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	write_json_row(json, frame, row, row->kind, false);
	json_close(json, '}');
}

void write_frame_json(struct buffer *out, const struct frame *frame, bool brief)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	write_json_row(&json, frame, &frame->sample->row, ROW_sample, brief);
	json_key(&json, "resource-tracker-version");
	json_text(&json, RT_VERSION);
	json_close(&json, '}');
}

/* Collects all identity fields of a frame as text, to find out whether any has changed. */
static void gather_identity(struct buffer *out, const struct frame *frame)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '[');
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row_description *description = &ROW_DESCRIPTIONS[kind];

		if (description->shape == OPTIONAL)
			continue;
		for (const struct row *row = frame->first[kind]; row; row = row->next)
			for (size_t i = 0; i < description->metric_count; i++)
				if (description->metrics[i].nature == IDENTITY)
					write_field(&json, row, &description->metrics[i], metric_offset(i));
	}
	json_close(&json, ']');
}

static bool identity_is_known(const struct frame *frame, struct format_state *state)
{
	CLEANUP_BUFFER struct buffer now = BUFFER(16 << 20);
	bool same;

	gather_identity(&now, frame);
	same = !buffer_error(&now) && now.length == state->kept.length &&
	       memcmp(now.data, state->kept.data, now.length) == 0;
	if (!same) {
		state->kept.ceiling = now.ceiling;
		buffer_clear(&state->kept);
		buffer_add(&state->kept, now.data, now.length);
	}
	return same;
}

static void jsonl_begin(struct buffer *out, const struct format_options *options)
{
	(void)out;
	(void)options;
}

static void jsonl_sample(struct buffer *out, const struct frame *frame, const struct format_options *options,
			 struct format_state *state)
{
	write_frame_json(out, frame, options->static_once && identity_is_known(frame, state));
	buffer_add_char(out, '\n');
	state->started = true;
}

const struct sample_format JSONL_FORMAT = {"json", jsonl_begin, jsonl_sample};
