/* Decodes one line of JSON into a frame. See json_decode.h. */
#include "format/json_decode.h"

#include <math.h>

#include "format/csv_cells.h"
#include "metric/typed_rows.h"

struct field_place {
	struct frame *frame;
	struct row *row;
	enum row_kind kind;
};

static bool decode_members(struct json_decoder *reader, struct scan *json, const struct field_place *place);

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	_Static_assert((sizeof(struct kind##_row) - sizeof(struct row)) / 8 <= METRICS_PER_KIND, \
		       "a metric set has one bit for each metric of a kind");
#include "metric/catalogue.def"

static size_t add_members(struct json_decoder *reader, size_t at, enum row_kind kind)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		const struct metric *metric = &description->metrics[i];

		if (metric->nature != RAW)
			reader->members[at++] =
				(struct sample_member){metric->name, strlen(metric->name), kind, (int)i};
	}
	for (enum row_kind child = 0; child < ROW_KINDS; child++) {
		const struct row_description *below = &ROW_DESCRIPTIONS[child];

		if (child == ROW_sample || below->parent != kind)
			continue;
		if (below->shape == INLINE)
			at = add_members(reader, at, child);
		else
			reader->members[at++] =
				(struct sample_member){below->key, strlen(below->key), child, -1};
	}
	return at;
}

/* If any metric of an array or map is wanted, the field that identifies its rows is wanted, too. */
static void want_upwards(struct json_decoder *reader, enum row_kind kind)
{
	for (;; kind = ROW_DESCRIPTIONS[kind].parent) {
		reader->below_wanted[kind] = true;
		if (ROW_DESCRIPTIONS[kind].key_offset || ROW_DESCRIPTIONS[kind].shape == MAP)
			metric_set_add(&reader->wanted, kind, 0);
		if (kind == ROW_sample)
			return;
	}
}

void json_decoder_init(struct json_decoder *ret_reader, const struct metric_set *wanted)
{
	size_t at = 0;

	*ret_reader = (struct json_decoder){.wanted = *wanted, .text = BUFFER(1 << 20)};
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		if (ROW_DESCRIPTIONS[kind].shape == INLINE)
			continue;
		ret_reader->objects[kind].first = at;
		at = add_members(ret_reader, at, kind);
		ret_reader->objects[kind].count = at - ret_reader->objects[kind].first;
	}
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		if (metric_set_has_kind(wanted, kind))
			want_upwards(ret_reader, kind);
}

void json_decoder_done(struct json_decoder *reader)
{
	buffer_done(&reader->text);
}

static const char *decode_text(struct json_decoder *reader, struct frame *frame, const struct scan *raw)
{
	buffer_clear(&reader->text);
	json_unescape(&reader->text, raw);
	if (buffer_error(&reader->text))
		return no_text(ABSENT_NOT_A_VALUE);
	return frame_text(frame, reader->text.data ? reader->text.data : "", reader->text.length);
}

/* No metric is below zero: such a number is damage, or a mistake of another program. */
static double decode_real(struct scan raw)
{
	double real;

	return scan_real(&raw, &real) && !scan_left(&raw) && real >= 0 && real <= RECORDED_MOST
		       ? fabs(real)
		       : no_real(ABSENT_NOT_COLLECTED);
}

static int64_t decode_count(struct scan raw)
{
	int64_t count = scan_whole_count(raw);

	return count >= 0 ? count : no_count(ABSENT_NOT_COLLECTED);
}

void json_decode_number(enum metric_type type, enum json_kind kind, struct scan raw, void *field)
{
	if (type == TYPE_REAL)
		*(double *)field = kind == VALUE_NUMBER ? decode_real(raw) : no_real(ABSENT_NOT_COLLECTED);
	else if (type == TYPE_COUNT && kind == VALUE_NUMBER)
		*(int64_t *)field = decode_count(raw);
	else if (type == TYPE_FLAG && (kind == VALUE_TRUE || kind == VALUE_FALSE))
		*(int64_t *)field = kind == VALUE_TRUE;
	else
		*(int64_t *)field = no_count(ABSENT_NOT_COLLECTED);
}

static void note_value(struct json_decoder *reader, const char *text, void *field,
		       const struct metric *metric, enum row_kind kind)
{
	if (reader->value_count < reader->value_room)
		reader->values[reader->value_count] = (struct decoded_value){text, field, metric->type, kind};
	reader->value_count++;
}

static bool read_metric(struct json_decoder *reader, struct scan *json, const struct field_place *place,
			size_t index)
{
	const struct metric *metric = &ROW_DESCRIPTIONS[place->kind].metrics[index];
	size_t offset = metric_offset(index);
	const char *text = json->at;
	enum json_kind kind;
	struct scan raw;

	if (!json_value(json, &kind, &raw))
		return false;
	if (reader->values)
		note_value(reader, text, row_count(place->row, offset), metric, place->kind);
	if (metric->type != TYPE_TEXT)
		json_decode_number(metric->type, kind, raw, row_count(place->row, offset));
	else if (kind == VALUE_STRING)
		*row_text(place->row, offset) = decode_text(reader, place->frame, &raw);
	return true;
}

/* Returns NULL if there are too many rows. */
static struct row *add_decoded_row(struct json_decoder *reader, struct frame *frame, enum row_kind kind,
				   struct row *parent)
{
	return reader->rows[kind]++ < SAMPLE_ROWS ? frame_add(frame, kind, parent) : NULL;
}

static bool read_object(struct json_decoder *reader, struct scan *json, struct frame *frame,
			enum row_kind kind, struct row *parent)
{
	struct field_place place = {frame, NULL, kind};

	/* null means that the row is absent. Other values that are not objects are ignored as well. */
	if (json->at >= json->end || *json->at != '{')
		return json_skip(json);
	place.row = add_decoded_row(reader, frame, kind, parent);
	return place.row && decode_members(reader, json, &place);
}

static bool read_array(struct json_decoder *reader, struct scan *json, struct frame *frame,
		       enum row_kind kind, struct row *parent)
{
	bool list = ROW_DESCRIPTIONS[kind].shape == LIST;

	if (json->at >= json->end || *json->at != '[')
		return json_skip(json);
	json_take(json, '[');
	if (json_take(json, ']'))
		return true;
	do {
		struct field_place place = {frame, NULL, kind};

		if (!list) {
			if (!read_object(reader, json, frame, kind, parent))
				return false;
			continue;
		}
		place.row = add_decoded_row(reader, frame, kind, parent);
		if (!place.row || !read_metric(reader, json, &place, 0))
			return false;
	} while (json_take(json, ','));
	return json_take(json, ']');
}

/* Reads "name": "value" pairs. */
static bool read_map(struct json_decoder *reader, struct scan *json, struct frame *frame, enum row_kind kind,
		     struct row *parent)
{
	if (json->at >= json->end || *json->at != '{')
		return json_skip(json);
	json_take(json, '{');
	if (json_take(json, '}'))
		return true;
	do {
		struct field_place place = {frame, NULL, kind};
		struct scan name;

		if (!json_quoted(json, &name) || !json_take(json, ':'))
			return false;
		place.row = add_decoded_row(reader, frame, kind, parent);
		if (!place.row)
			return false;
		*row_text(place.row, metric_offset(0)) = decode_text(reader, frame, &name);
		if (!read_metric(reader, json, &place, 1))
			return false;
	} while (json_take(json, ','));
	return json_take(json, '}');
}

static bool read_below(struct json_decoder *reader, struct scan *json, const struct field_place *place,
		       enum row_kind kind)
{
	if (!reader->below_wanted[kind])
		return json_skip(json);
	switch (ROW_DESCRIPTIONS[kind].shape) {
	case ARRAY:
	case EVENTS:
	case LIST:
		return read_array(reader, json, place->frame, kind, place->row);
	case MAP:
		return read_map(reader, json, place->frame, kind, place->row);
	default:
		return read_object(reader, json, place->frame, kind, place->row);
	}
}

/* Returns the row of an INLINE kind among the members of `place`. */
static struct row *inline_row(const struct field_place *place, enum row_kind kind)
{
	struct row *last = place->frame->last[kind];

	return last && last->parent == place->row ? last : frame_add(place->frame, kind, place->row);
}

static bool decode_member(struct json_decoder *reader, struct scan *json, const struct field_place *place,
			  const struct sample_member *member)
{
	struct field_place inlined;

	/* Every sample has it, except brief ones. */
	if (member->kind == ROW_sample && member->metric == (int)METRIC_INDEX(sample, job_name))
		reader->brief = false;
	if (member->metric < 0)
		return read_below(reader, json, place, member->kind);
	if (!metric_set_has(&reader->wanted, member->kind, (size_t)member->metric))
		return json_skip(json);
	if (member->kind == place->kind)
		return read_metric(reader, json, place, (size_t)member->metric);
	inlined = (struct field_place){place->frame, inline_row(place, member->kind), member->kind};
	return read_metric(reader, json, &inlined, (size_t)member->metric);
}

/* Finds the member with a key, searching from `*next`: a writer may leave members out, but keeps their order. */
static const struct sample_member *find_member(const struct json_decoder *reader, enum row_kind kind,
					       const struct scan *key, size_t *next)
{
	const struct sample_member *members = &reader->members[reader->objects[kind].first];
	size_t count = reader->objects[kind].count, length = scan_left(key);

	for (size_t tried = 0; tried < count; tried++) {
		size_t i = (*next + tried) % count;

		if (members[i].key_length == length && memcmp(members[i].key, key->at, length) == 0) {
			*next = i + 1;
			return &members[i];
		}
	}
	return NULL;
}

/* Takes `"key":` if it is the expected next member, as it nearly always is. */
static const struct sample_member *take_expected(const struct json_decoder *reader, struct scan *json,
						 enum row_kind kind, size_t *next)
{
	const struct sample_member *member;

	if (*next >= reader->objects[kind].count)
		return NULL;
	member = &reader->members[reader->objects[kind].first + *next];
	if (scan_left(json) < member->key_length + 3 ||
	    memcmp(json->at + 1, member->key, member->key_length) != 0 || json->at[0] != '"' ||
	    json->at[member->key_length + 1] != '"' || json->at[member->key_length + 2] != ':')
		return NULL;
	json->at += member->key_length + 3;
	json_skip_space(json);
	++*next;
	return member;
}

static bool decode_members(struct json_decoder *reader, struct scan *json, const struct field_place *place)
{
	size_t next = 0;

	if (!json_take(json, '{'))
		return false;
	if (json_take(json, '}'))
		return true;
	do {
		const struct sample_member *member = take_expected(reader, json, place->kind, &next);
		struct scan key;

		if (!member) {
			if (!json_quoted(json, &key) || !json_take(json, ':'))
				return false;
			member = find_member(reader, place->kind, &key, &next);
		}
		if (!(member ? decode_member(reader, json, place, member) : json_skip(json)))
			return false;
	} while (json_take(json, ','));
	return json_take(json, '}');
}

bool json_decoder_read(struct json_decoder *reader, struct scan line, struct frame *frame)
{
	struct field_place place = {frame, &frame->sample->row, ROW_sample};

	reader->brief = true;
	reader->value_count = 0;
	memset(reader->rows, 0, sizeof(reader->rows));
	json_skip_space(&line);
	return decode_members(reader, &line, &place) && !scan_left(&line) && !frame->error;
}
