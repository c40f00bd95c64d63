/* Descriptions of all row kinds and metrics, expanded from catalogue.def; see catalogue.h. */
#include "metric/catalogue.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"

_Static_assert(sizeof(double) == 8 && sizeof(int64_t) == 8, "fields are 8 bytes wide");

/* A text pointer fills a field of 8 bytes. */
_Static_assert(sizeof(const char *) == 8, "32-bit machines are not supported");

#define FROM(of_kind, field) .from_kind = ROW_##of_kind, .from_offset = offsetof(struct of_kind##_row, field)

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	static const struct metric kind##_metrics[] = {
#define ROW_END(kind) \
	} \
	;
#define REAL(kind, name, unit, decimals, nature, help) \
	{#name, unit, help, TYPE_REAL, nature, decimals, 0, 0, 0},
#define COUNT(kind, name, unit, nature, help) {#name, unit, help, TYPE_COUNT, nature, 0, 0, 0, 0},
#define TEXT(kind, name, help) {#name, "", help, TYPE_TEXT, IDENTITY, 0, 0, 0, 0},
#define FLAG(kind, name, help) {#name, "", help, TYPE_FLAG, IDENTITY, 0, 0, 0, 0},
#define RAW_REAL(kind, name, help) {#name, "", help, TYPE_REAL, RAW, 0, 0, 0, 0},
#define RAW_COUNT(kind, name, help) {#name, "", help, TYPE_COUNT, RAW, 0, 0, 0, 0},
#define DERIVED(name_, unit_, help_, type_, nature_, decimals_, of_kind, from) \
	{.name = #name_, \
	 .unit = unit_, \
	 .help = help_, \
	 .type = type_, \
	 .nature = nature_, \
	 .decimals = decimals_, \
	 FROM(of_kind, from)},
#define DELTA_REAL(kind, name, unit, decimals, from, help) \
	DERIVED(name, unit, help, TYPE_REAL, DELTA, decimals, kind, from)
#define DELTA_COUNT(kind, name, unit, from, help) DERIVED(name, unit, help, TYPE_COUNT, DELTA, 0, kind, from)
#define CHANGE_REAL(kind, name, unit, decimals, help) \
	{#name, unit, help, TYPE_REAL, DELTA, decimals, 0, 0, 0},
#define CHANGE_COUNT(kind, name, unit, help) {#name, unit, help, TYPE_COUNT, DELTA, 0, 0, 0, 0},
#define RATE(kind, name, unit, decimals, from, help) \
	DERIVED(name, unit, help, TYPE_REAL, RATE_WINDOWED, decimals, kind, from)
#define EXACT_RATE(kind, name, unit, decimals, from, help) \
	DERIVED(name, unit, help, TYPE_REAL, RATE_EXACT, decimals, kind, from)
#define SUM_DELTA(kind, name, unit, of_kind, from, help) \
	{#name, \
	 unit, \
	 help, \
	 TYPE_COUNT, \
	 SUM_OF_DELTAS, \
	 0, \
	 FROM(of_kind, from), \
	 offsetof(struct of_kind##_row, counted)},
#define SUM_RATE(kind, name, unit, decimals, of_kind, from, help) \
	DERIVED(name, unit, help, TYPE_REAL, SUM_OF_RATES, decimals, of_kind, from)
#include "metric/catalogue.def"

/* enum row_kind has the kinds of the catalogue, in its order. */
enum {
#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) PLACE_OF_##kind,
#include "metric/catalogue.def"
	PLACE_OF_NONE
};
#define ROW_BEGIN(kind, ...) \
	_Static_assert((int)PLACE_OF_##kind == (int)ROW_##kind, "enum row_kind has another order");
#include "metric/catalogue.def"
_Static_assert((int)PLACE_OF_NONE == (int)ROW_KINDS, "enum row_kind has another kind");

/* The first field of an array's rows identifies each row. */
#define KEY_OFFSET(shape) ((shape) == ARRAY || (shape) == EVENTS ? sizeof(struct row) : 0)

const struct row_description ROW_DESCRIPTIONS[ROW_KINDS] = {
#define ROW_BEGIN(kind, parent_, shape_, key_, source_, cost_, help_) \
	[ROW_##kind] = { \
		.name = #kind, \
		.key = key_, \
		.source = source_, \
		.cost = cost_, \
		.help = help_, \
		.parent = ROW_##parent_, \
		.shape = shape_, \
		.metrics = kind##_metrics, \
		.metric_count = ARRAY_SIZE(kind##_metrics), \
		.size = sizeof(struct kind##_row), \
		.key_offset = KEY_OFFSET(shape_), \
	},
#include "metric/catalogue.def"
};

int field_absent(const struct row *row, enum metric_type type, size_t offset)
{
	switch (type) {
	case TYPE_REAL:
		return real_absent(*row_real(row, offset));
	case TYPE_COUNT:
	case TYPE_FLAG:
		return count_absent(*row_count(row, offset));
	case TYPE_TEXT:
		return text_absent(*row_text(row, offset));
	}
	return ABSENT_NOT_COLLECTED;
}

void field_set_absent(struct row *row, enum metric_type type, size_t offset, int reason)
{
	switch (type) {
	case TYPE_REAL:
		*row_real(row, offset) = no_real(reason);
		break;
	case TYPE_COUNT:
	case TYPE_FLAG:
		*row_count(row, offset) = no_count(reason);
		break;
	case TYPE_TEXT:
		*row_text(row, offset) = no_text(reason);
		break;
	}
}

void row_set_absent(struct row *row, int reason)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	const double real = no_real(reason);
	const int64_t count = no_count(reason);

	/* Every row begins like this: a call for each field would be a twentieth of a sample. */
	for (size_t i = 0; i < description->metric_count; i++) {
		if (description->metrics[i].type == TYPE_REAL)
			*row_real(row, metric_offset(i)) = real;
		else if (description->metrics[i].type == TYPE_TEXT)
			*row_text(row, metric_offset(i)) = no_text(reason);
		else
			*row_count(row, metric_offset(i)) = count;
	}
}

int row_path(enum row_kind kind, char *ret_path, size_t size)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	char parent[128];
	int length;

	if (kind == ROW_sample) {
		if (size)
			ret_path[0] = '\0';
		return 0;
	}
	length = row_path(description->parent, parent, sizeof parent);
	if (description->shape == INLINE)
		return snprintf(ret_path, size, "%s", parent);
	return snprintf(ret_path, size, "%s%s%s", parent, length ? "." : "", description->key);
}

int metric_full_name(enum row_kind kind, size_t index, char *ret_name, size_t size)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	char path[128];
	int length = row_path(kind, path, sizeof path);

	/* The rows of a list have one value each and share the list's name. */
	if (description->shape == LIST)
		return snprintf(ret_name, size, "%s", path);
	return snprintf(ret_name, size, "%s%s%s", path, length ? "." : "", description->metrics[index].name);
}
