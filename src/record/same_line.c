/* Reads a line that differs from an earlier one in values alone. See same_line.h. */
#include "record/same_line.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A sample has some 200 values, and some more for each CPU, disk and GPU. One with more than this is decoded each time. */
enum { MOST_PLACES = 16384 };
/* A value that changed once is read in each line. After this many lines those that change are found afresh. */
enum { MOST_LINES = 4096 };
/* Where each sample has other programs than the last one, all but one of this many lines are not remembered in vain. */
enum { MOST_PASSED = 64 };

/* A value, wanted or not, in the order of the line. */
struct same_place {
	uint32_t start, end; /* in the text that is remembered, with the quotes of a text */
	uint32_t field;      /* offset in the image, NO_FIELD: not wanted */
	uint32_t text;       /* offset of a text in the image, NO_FIELD: it has none */
	uint32_t room;       /* for that text, with its NUL */
	uint8_t type;        /* enum metric_type */
	bool known;          /* has to stay a known number, as the times of a sample */
	const char *address; /* of the text in the frame */
};

#define NO_FIELD UINT32_MAX

void same_line_begin(struct same_line *same, struct json_decoder *decoder)
{
	*same = (struct same_line){.text = BUFFER(UINT32_MAX / 2)};
	if (decoder->values)
		return;
	decoder->values = malloc(MOST_PLACES * sizeof *decoder->values);
	decoder->value_room = decoder->values ? MOST_PLACES : 0;
}

void same_line_done(struct same_line *same, struct json_decoder *decoder)
{
	free(decoder->values);
	decoder->values = NULL;
	buffer_done(&same->text);
	free(same->places);
	free(same->changing);
	frame_image_done(&same->image);
}

/* The first byte is the lowest. */
static uint64_t eight_bytes(const char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof bytes);
	return le64toh(bytes);
}

/* Returns how many bytes from the start are equal. */
static size_t equal_bytes(const char *a, const char *b, size_t length)
{
	size_t i = 0;

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
	if (place->field == NO_FIELD || place->type != TYPE_TEXT || kind != VALUE_STRING)
		return true;
	/* The decoder resolves escapes. */
	return place->text != NO_FIELD && scan_left(raw) < place->room &&
	       !memchr(raw->at, '\\', scan_left(raw));
}

static bool is_known_number(const struct same_place *place, const void *field)
{
	return place->type == TYPE_REAL ? !real_absent(*(const double *)field)
					: !count_absent(*(const int64_t *)field);
}

/* Reads any value into the image. */
static bool read_any_value(struct same_line *same, const struct same_place *place, struct scan *line)
{
	char *field = same->image.bytes + place->field;
	enum json_kind kind;
	struct scan raw;

	if (!take_value(line, &kind, &raw) || !value_fits(place, kind, &raw))
		return false;
	if (place->field == NO_FIELD)
		return true;
	if (place->type != TYPE_TEXT) {
		json_decode_number((enum metric_type)place->type, kind, raw, field);
		return !place->known || is_known_number(place, field);
	}
	if (kind == VALUE_STRING) {
		memcpy(same->image.bytes + place->text, raw.at, scan_left(&raw));
		same->image.bytes[place->text + scan_left(&raw)] = '\0';
		*(const char **)(void *)field = place->address;
	} else {
		*(const char **)(void *)field = no_text(ABSENT_NOT_COLLECTED);
	}
	return true;
}

/* A number of so few digits is a double without rounding, and none of them is above RECORDED_MOST. */
/* Two groups of digits of 16 bytes, the point, and the byte behind. */
enum { SHORT_DIGITS = 15, SHORT_BYTES = 2 * (SHORT_DIGITS + 1) + 2 };

static const double SHORT_POWERS[SHORT_DIGITS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
						      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* The number of eight digits, each a byte from 0 to 9. */
static double eight_digits(uint64_t digits)
{
	const uint64_t pairs = UINT64_C(0x000000ff000000ff);

	digits = digits * 10 + (digits >> 8);
	digits = (digits & pairs) * UINT64_C(0x000f424000000064) +
		 (digits >> 16 & pairs) * UINT64_C(0x0000271000000001);
	return (double)(uint32_t)(digits >> 32);
}

/* Returns how many of the eight bytes from the lowest are from 0 to 9. */
static unsigned leading_digits(uint64_t bytes)
{
	uint64_t others = (((bytes & ~UINT64_C(0x8080808080808080)) + UINT64_C(0x7676767676767676)) | bytes) &
			  UINT64_C(0x8080808080808080);

	return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Reads up to 16 digits, at a place with as many bytes. Returns their number. As a call it costs a twentieth of a summary. */
__attribute__((always_inline)) static inline unsigned short_digits(const char *at, double *ret_number)
{
	const uint64_t zeros = UINT64_C(0x3030303030303030);
	uint64_t bytes = eight_bytes(at) ^ zeros;
	unsigned count = leading_digits(bytes), more;

	if (!count)
		return 0;
	*ret_number = eight_digits(bytes << (64 - 8 * count));
	if (count < 8)
		return count;
	bytes = eight_bytes(at + 8) ^ zeros;
	more = leading_digits(bytes);
	if (more)
		*ret_number = *ret_number * SHORT_POWERS[more] + eight_digits(bytes << (64 - 8 * more));
	return 8 + more;
}

/*
 * Reads a number without sign and exponent, as nearly all are, to the same double as scan_real(). Returns false, and reads nothing, for any
 * other value.
 */
static bool read_short_number(struct same_line *same, const struct same_place *place, struct scan *line)
{
	char *field = same->image.bytes + place->field;
	double number, part;
	const char *at;
	unsigned count, decimals = 0;

	if (scan_left(line) < SHORT_BYTES)
		return false;
	count = short_digits(line->at, &number);
	at = line->at + count;
	if (count && *at == '.') {
		decimals = short_digits(at + 1, &part);
		at += 1 + decimals;
		count = decimals ? count + decimals : 0;
	}
	if (!count || count > SHORT_DIGITS || !(*at == ',' || *at == '}' || *at == ']'))
		return false;
	if (place->field == NO_FIELD)
		;
	else if (place->type == TYPE_REAL)
		*(double *)(void *)field =
			decimals ? (number * SHORT_POWERS[decimals] + part) / SHORT_POWERS[decimals] : number;
	else if (place->type == TYPE_COUNT && !decimals)
		*(int64_t *)(void *)field = (int64_t)number;
	else
		return false;
	line->at = at;
	return true;
}

/*
 * Lets the value at an offset of the text be read in each line, as the one with this index among those. Returns false if names or
 * punctuation stand there.
 */
static bool add_changing(struct same_line *same, size_t index, size_t offset)
{
	const struct same_place *place = index ? same->changing[index - 1] + 1 : same->places;
	const struct same_place *end = same->places + same->place_count;

	while (place < end && place->end < offset)
		place++;
	if (place == end || place->start > offset)
		return false;
	memmove(&same->changing[index + 1], &same->changing[index],
		(same->changing_count - index) * sizeof *same->changing);
	same->changing[index] = place;
	same->changing_count++;
	return true;
}

/*
 * Steps over what has not changed, from an offset of the text to the value with an index among those that change, or to the end.
 * Another value that differs becomes the one with that index. Returns false if anything else differs.
 */
static bool take_equal(struct same_line *same, size_t index, size_t from, struct scan *line)
{
	const char *text = same->text.data + from;
	size_t left = scan_left(line);
	size_t length =
		(index < same->changing_count ? same->changing[index]->start : same->text.length) - from;
	bool ends = index == same->changing_count;

	if (left < length || (ends && left > length) || memcmp(text, line->at, length) != 0) {
		size_t equal = equal_bytes(text, line->at, left < length ? left : length);

		if (!add_changing(same, index, from + equal))
			return false;
		length = same->changing[index]->start - from;
	}
	line->at += length;
	return true;
}

bool same_line_read(struct same_line *same, struct scan line, struct frame *frame)
{
	size_t from = 0;

	if (!same->known || frame->chunks != same->image.frame.chunks || same->lines >= MOST_LINES)
		return false;
	for (size_t i = 0; take_equal(same, i, from, &line); i++) {
		const struct same_place *place;

		if (i == same->changing_count) {
			frame_image_put(&same->image, frame);
			same->misses = 0;
			same->lines++;
			return true;
		}
		place = same->changing[i];
		if (!read_short_number(same, place, &line) && !read_any_value(same, place, &line))
			return false;
		from = place->end;
	}
	return false;
}

static bool make_place_room(struct same_line *same)
{
	size_t room = same->place_room ? 2 * same->place_room : 512;
	struct same_place *places;
	const struct same_place **changing;

	if (same->place_count < same->place_room)
		return true;
	if (room > MOST_PLACES)
		return false;
	places = realloc(same->places, room * sizeof *places);
	if (!places)
		return false;
	same->places = places;
	changing = realloc(same->changing, room * sizeof *changing);
	if (!changing)
		return false;
	same->changing = changing;
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
	place->known = value->kind == ROW_sample && value->type != TYPE_TEXT;
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
static bool add_line_place(struct same_line *same, struct scan *json, const char *line)
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
		.start = (uint32_t)(start - line),
		.end = (uint32_t)(json->at - line),
		.field = NO_FIELD,
		.text = NO_FIELD,
	};
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
	const char *begin = line.at;
	bool good = taken;

	same->place_count = 0;
	while (good && line.at < line.end) {
		const char *start = line.at;
		size_t before = same->place_count;

		if (is_between_values(*line.at)) {
			line.at++;
			continue;
		}
		good = add_line_place(same, &line, begin);
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
	same->changing_count = same->lines = 0;
	same->brief = decoder->brief;
}
