/* Names of values that a sample may have several of; see place.h. */
#include "metric/place.h"

#include <math.h>
#include <string.h>

#include "base/scan.h"

enum { NAME_BYTES = 160 };

bool metric_place_split(const char *name, char *ret_plain, size_t size, struct metric_place *ret_place)
{
	size_t length = 0;

	for (const char *at = name; *at; at++) {
		const char *close;
		struct scan key;

		if (*at != '[') {
			if (length + 1 >= size)
				return false;
			ret_plain[length++] = *at;
			continue;
		}
		/* A key may contain brackets: the closing one is followed by a point or the end. */
		close = strchr(at, ']');
		while (close && close[1] && close[1] != '.')
			close = strchr(close + 1, ']');
		if (!close || ret_place->depth == PLACE_DEPTH || close - at > PLACE_KEY_BYTES)
			return false;
		key = (struct scan){at + 1, close};
		scan_copy(&key, ret_place->keys[ret_place->depth++], PLACE_KEY_BYTES);
		at = close;
	}
	ret_plain[length] = '\0';
	return length > 0;
}

bool metric_place_find(const char *plain, struct metric_place *place)
{
	char full[NAME_BYTES];

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			metric_full_name(kind, i, full, sizeof(full));
			if (strcmp(full, plain) != 0)
				continue;
			place->kind = kind;
			place->index = i;
			return true;
		}
	return false;
}

int metric_place_levels(enum row_kind kind)
{
	int levels = 0;

	for (; kind != ROW_sample; kind = ROW_DESCRIPTIONS[kind].parent) {
		enum row_shape shape = ROW_DESCRIPTIONS[kind].shape;

		levels += shape >= ARRAY;
	}
	return levels;
}

enum place_fault metric_place_settle(struct metric_place *place)
{
	static const char *const WORDS[] = {[PLACE_SUM] = "sum", [PLACE_MEAN] = "mean", [PLACE_MAX] = "max"};
	int levels = metric_place_levels(place->kind);

	if (levels == 0)
		return place->depth ? PLACE_HAS_NO_KEYS : PLACE_GOOD;
	if (!place->depth)
		return PLACE_NEEDS_KEYS;
	for (enum place_choice choice = PLACE_SUM; choice <= PLACE_MAX; choice++)
		if (place->depth == 1 && strcmp(place->keys[0], WORDS[choice]) == 0) {
			place->choice = choice;
			place->depth = 0;
			return PLACE_GOOD;
		}
	place->choice = PLACE_KEY;
	return place->depth == levels ? PLACE_GOOD : PLACE_NEEDS_OTHER_KEYS;
}

static bool is_key(const struct row *row, size_t position, const char *key)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	struct scan digits = scan_bytes(key, strlen(key));
	uint64_t wanted;

	if (description->key_offset || description->shape == MAP) {
		const char *own = *row_text(row, metric_offset(0));

		if (!text_absent(own) && strcmp(own, key) == 0)
			return true;
	}
	return scan_u64(&digits, &wanted) && !scan_left(&digits) && wanted == position;
}

/* Finds the row of a kind below `parent` by a key. */
static const struct row *row_by_key(const struct frame *frame, enum row_kind kind, const struct row *parent,
				    const char *key)
{
	size_t position = 0;

	for (const struct row *row = frame->first[kind]; row; row = row->next) {
		if (parent && row->parent != parent)
			continue;
		if (is_key(row, position++, key))
			return row;
	}
	return NULL;
}

const struct row *metric_place_row(const struct metric_place *place, const struct frame *frame)
{
	const struct row *parent = NULL;

	if (place->choice != PLACE_KEY)
		return frame->first[place->kind];
	if (metric_place_levels(place->kind) > 1) {
		parent = row_by_key(frame, ROW_DESCRIPTIONS[place->kind].parent, NULL, place->keys[0]);
		if (!parent)
			return NULL;
	}
	return row_by_key(frame, place->kind, parent, place->keys[place->depth - 1]);
}

double metric_place_real_of(const struct metric_place *place, const struct row *row)
{
	enum metric_type type = metric_place_metric(place)->type;
	size_t offset = metric_offset(place->index);

	if (!row || type == TYPE_TEXT || field_absent(row, type, offset))
		return (double)NAN;
	return type == TYPE_REAL ? *row_real(row, offset) : (double)*row_count(row, offset);
}

static double over_all(const struct metric_place *place, const struct frame *frame)
{
	double sum = 0, most = -INFINITY, count = 0;

	for (const struct row *row = frame->first[place->kind]; row; row = row->next) {
		double value = metric_place_real_of(place, row);

		if (isnan(value))
			continue;
		sum += value;
		most = value > most ? value : most;
		count++;
	}
	if (count == 0)
		return (double)NAN;
	if (place->choice == PLACE_MEAN)
		sum /= count;
	return place->choice == PLACE_MAX ? most : sum;
}

double metric_place_real(const struct metric_place *place, const struct frame *frame)
{
	return place->choice >= PLACE_SUM ? over_all(place, frame)
					  : metric_place_real_of(place, metric_place_row(place, frame));
}
