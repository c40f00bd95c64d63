/* Reads a line that differs from the last one in values alone. See same_line.h. */
#include "record/same_line.h"

#include <stdlib.h>
#include <string.h>

/* A sample has some 200 values, and some more for each CPU, disk and GPU. One with more than this is decoded each time. */
enum { MOST_PLACES = 16384 };
/* A value that differs costs up to twice as much here as in the decoder. Where more than one of this many does, that is faster. */
enum { FEWEST_SAME = 2 };
/* Where each sample has other programs than the last one, all but one of this many lines are not remembered in vain. */
enum { MOST_PASSED = 64 };

/* A value, wanted or not, in the order of the line. */
struct same_place {
	uint32_t gap;        /* bytes from the end of the value before: names and punctuation */
	uint32_t length;     /* with the quotes of a text */
	uint32_t field;      /* offset in the image, NO_FIELD: not wanted */
	uint32_t text;       /* offset of a text in the image, NO_FIELD: it has none */
	uint32_t room;       /* for that text, with its NUL */
	uint8_t type;        /* enum metric_type */
	bool number;         /* has to stay a number, as the times of a sample */
	const char *address; /* of the text in the frame */
};

struct same_change {
	struct same_place *place;
	size_t length;
	enum json_kind kind;
	struct scan raw;
};

#define NO_FIELD UINT32_MAX

void same_line_begin(struct same_line *same, struct json_decoder *decoder)
{
	*same = (struct same_line){.text = BUFFER(UINT32_MAX / 2)};
	decoder->values = malloc(MOST_PLACES * sizeof *decoder->values);
	decoder->value_room = decoder->values ? MOST_PLACES : 0;
}

void same_line_done(struct same_line *same, struct json_decoder *decoder)
{
	free(decoder->values);
	decoder->values = NULL;
	buffer_done(&same->text);
	free(same->places);
	free(same->changes);
	frame_image_done(&same->image);
}

static uint64_t eight_bytes(const char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof bytes);
	return bytes;
}

/* Returns how many bytes from the start are equal. */
static size_t equal_bytes(const char *a, const char *b, size_t length)
{
	size_t i = 0;

	while (i + 32 <= length && !((eight_bytes(a + i) ^ eight_bytes(b + i)) |
				     (eight_bytes(a + i + 8) ^ eight_bytes(b + i + 8)) |
				     (eight_bytes(a + i + 16) ^ eight_bytes(b + i + 16)) |
				     (eight_bytes(a + i + 24) ^ eight_bytes(b + i + 24))))
		i += 32;
	while (i + 8 <= length && eight_bytes(a + i) == eight_bytes(b + i))
		i += 8;
	while (i < length && a[i] == b[i])
		i++;
	return i;
}

/*
 * Takes a text, a number or a word. Nothing else may hide in a word, such as a bracket: where the decoder steps over a group, it
 * counts those.
 */
static bool take_value(struct scan *json, enum json_kind *ret_kind, struct scan *ret_raw)
{
	if (json->at < json->end && (*json->at == '{' || *json->at == '['))
		return false;
	if (!json_value(json, ret_kind, ret_raw))
		return false;
	for (const char *at = ret_raw->at; *ret_kind != VALUE_STRING && at < ret_raw->end; at++)
		if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
		      (*at >= 'A' && *at <= 'Z') || *at == '.' || *at == '-' || *at == '+'))
			return false;
	return true;
}

/* Tells whether a value may take the place of the last one. A text must fit where that one stands. */
static bool value_fits(const struct same_place *place, enum json_kind kind, const struct scan *raw)
{
	if (place->number && kind != VALUE_NUMBER)
		return false;
	if (place->field == NO_FIELD || place->type != TYPE_TEXT || kind != VALUE_STRING)
		return true;
	/* The decoder resolves escapes. */
	return place->text != NO_FIELD && scan_left(raw) < place->room &&
	       !memchr(raw->at, '\\', scan_left(raw));
}

static void apply_change(struct same_line *same, const struct same_change *change)
{
	struct same_place *place = change->place;
	char *field = same->image.bytes + place->field;
	size_t length = scan_left(&change->raw);

	place->length = (uint32_t)change->length;
	if (place->field == NO_FIELD)
		return;
	if (place->type != TYPE_TEXT) {
		json_decode_number((enum metric_type)place->type, change->kind, change->raw, field);
	} else if (change->kind == VALUE_STRING) {
		memcpy(same->image.bytes + place->text, change->raw.at, length);
		same->image.bytes[place->text + length] = '\0';
		*(const char **)(void *)field = place->address;
	} else {
		*(const char **)(void *)field = no_text(ABSENT_NOT_COLLECTED);
	}
}

/* Finds the values that differ. Returns false if anything else does. */
static bool find_changes(struct same_line *same, struct scan line, size_t *ret_count)
{
	struct same_place *place = same->places, *end = place + same->place_count;
	const char *old = same->text.data;
	size_t old_length = same->text.length, i = 0, from = 0, count = 0;

	for (;;) {
		size_t left = scan_left(&line);
		size_t equal = equal_bytes(old + i, line.at, old_length - i < left ? old_length - i : left);
		struct same_change *change = &same->changes[count];
		const char *value;

		i += equal;
		line.at += equal;
		if (i == old_length && line.at == line.end)
			break;
		for (; place < end && from + place->gap + place->length < i; place++)
			from += place->gap + place->length;
		if (place == end || from + place->gap > i || count > same->place_count / FEWEST_SAME)
			return false;
		value = line.at - (i - from - place->gap);
		line.at = value;
		if (!take_value(&line, &change->kind, &change->raw) ||
		    !value_fits(place, change->kind, &change->raw))
			return false;
		change->place = place;
		change->length = (size_t)(line.at - value);
		count++;
		from += place->gap + place->length;
		i = from;
		place++;
	}
	*ret_count = count;
	return true;
}

bool same_line_read(struct same_line *same, struct scan line, struct frame *frame)
{
	size_t count;

	if (!same->known || frame->chunks != same->image.frame.chunks || scan_left(&line) >= UINT32_MAX / 2)
		return false;
	buffer_reserve(&same->text, scan_left(&line));
	if (buffer_error(&same->text) || !find_changes(same, line, &count))
		return false;
	for (size_t c = 0; c < count; c++)
		apply_change(same, &same->changes[c]);
	same->text.length = 0;
	buffer_add(&same->text, line.at, scan_left(&line));
	frame_image_put(&same->image, frame);
	same->misses = 0;
	return true;
}

static bool make_place_room(struct same_line *same)
{
	size_t room = same->place_room ? 2 * same->place_room : 512;
	struct same_place *places;
	struct same_change *changes;

	if (same->place_count + 1 < same->place_room)
		return true;
	if (room > MOST_PLACES)
		return false;
	places = realloc(same->places, room * sizeof *places);
	if (!places)
		return false;
	same->places = places;
	/* One more than places: the next change is written before it is known to be one. */
	changes = realloc(same->changes, (room + 1) * sizeof *changes);
	if (!changes)
		return false;
	same->changes = changes;
	same->place_room = room;
	return true;
}

/* Sets where the frame has a value. Returns false if another value of the line had that field: the last one wins. */
static bool set_field(struct same_line *same, struct same_place *place, const struct decoded_value *value,
		      uint64_t *taken)
{
	size_t field = frame_image_offset(&same->image, value->field);
	const char *text;

	if (taken[field / 512] >> field / 8 % 64 & 1)
		return false;
	taken[field / 512] |= UINT64_C(1) << field / 8 % 64;
	place->field = (uint32_t)field;
	place->type = (uint8_t)value->type;
	place->number = value->kind == ROW_sample && value->type != TYPE_TEXT;
	if (value->type != TYPE_TEXT)
		return true;
	text = *(const char *const *)value->field;
	if (text_absent(text))
		return true;
	place->address = text;
	place->text = (uint32_t)frame_image_offset(&same->image, text);
	place->room = (uint32_t)strlen(text) + 1;
	return true;
}

/* Adds the next value of the line, unless the text at the cursor is the name of one. */
static bool add_line_place(struct same_line *same, struct scan *json, const char **end)
{
	const char *start = json->at;
	struct scan after;
	struct scan raw;
	enum json_kind kind;

	if (!make_place_room(same) || !take_value(json, &kind, &raw))
		return false;
	after = *json;
	json_skip_space(&after);
	if (kind == VALUE_STRING && after.at < after.end && *after.at == ':')
		return true;
	same->places[same->place_count++] = (struct same_place){
		.gap = (uint32_t)(start - *end),
		.length = (uint32_t)(json->at - start),
		.field = NO_FIELD,
		.text = NO_FIELD,
	};
	*end = json->at;
	return true;
}

static bool is_between_values(char c)
{
	return c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == ' ' ||
	       c == '\t' || c == '\n' || c == '\r';
}

static bool find_places(struct same_line *same, const struct json_decoder *decoder, struct scan line)
{
	const struct decoded_value *value = decoder->values, *values_end = value + decoder->value_count;
	/* A bit for each field of the image. */
	uint64_t *taken = calloc(same->image.size / 512 + 1, sizeof *taken);
	const char *end = line.at;
	bool good = taken;

	same->place_count = 0;
	while (good && line.at < line.end) {
		const char *start = line.at;
		size_t before = same->place_count;

		if (is_between_values(*line.at)) {
			line.at++;
			continue;
		}
		good = add_line_place(same, &line, &end);
		if (good && same->place_count > before && value < values_end && value->text == start)
			good = set_field(same, &same->places[before], value++, taken);
	}
	free(taken);
	return good && value == values_end;
}

void same_line_remember(struct same_line *same, const struct json_decoder *decoder, struct scan line,
			const struct frame *frame)
{
	same->known = false;
	/* The more lines in a row were remembered in vain, the more are passed over before the next one. */
	if (same->passed < same->misses) {
		same->passed++;
		return;
	}
	if (same->misses < MOST_PASSED)
		same->misses++;
	same->passed = 0;
	if (!decoder->values || decoder->value_count > decoder->value_room ||
	    scan_left(&line) >= UINT32_MAX / 2 || frame_image_take(&same->image, frame) < 0 ||
	    same->image.size >= NO_FIELD || !find_places(same, decoder, line))
		return;
	buffer_clear(&same->text);
	buffer_add(&same->text, line.at, scan_left(&line));
	same->known = buffer_error(&same->text) == 0 && same->place_count > 0;
}
