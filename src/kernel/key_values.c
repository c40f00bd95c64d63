/* Lines of a key, a separator and a number. See key_values.h. */
#include "kernel/key_values.h"

#include <stdbool.h>

static int64_t *field_value(const struct key_field *field, void *values)
{
	return (int64_t *)((char *)values + field->offset);
}

void clear_key_values(const struct key_field *fields, size_t field_count, void *values)
{
	for (size_t i = 0; i < field_count; i++)
		*field_value(&fields[i], values) = -1;
}

/* Nearly all unknown keys have another length or another first letter than each of the table, so none is compared with them. */
struct key_filter {
	uint64_t lengths;
	uint64_t letters;
};

static uint64_t bit_of(size_t value)
{
	return UINT64_C(1) << (value & 63);
}

static struct key_filter filter_of(const struct key_field *fields, size_t field_count)
{
	struct key_filter filter = {0};

	for (size_t i = 0; i < field_count; i++) {
		filter.lengths |= bit_of(fields[i].key_length);
		filter.letters |= bit_of((unsigned char)fields[i].key[0]);
	}
	return filter;
}

static bool has_known_letter(const struct key_filter *filter, const struct scan *line)
{
	return scan_left(line) && filter->letters & bit_of((unsigned char)*line->at);
}

static bool has_known_length(const struct key_filter *filter, const struct scan *key)
{
	return scan_left(key) && filter->lengths & bit_of(scan_left(key));
}

/*
 * The kernel writes its keys in a fixed order, and tables should have the same order. The search begins after
 * the field that was found last, so a wanted line is usually found at once.
 */
static const struct key_field *find_field(const struct scan *key, const struct key_field *fields,
					  size_t field_count, size_t *next)
{
	size_t length = scan_left(key);

	for (size_t tried = 0, i = *next; tried < field_count; tried++, i++) {
		if (i == field_count)
			i = 0;
		if (fields[i].key_length != length || memcmp(fields[i].key, key->at, length) != 0)
			continue;
		*next = i + 1;
		return &fields[i];
	}
	return NULL;
}

/* Counts the fields that are still unset. */
static size_t count_absent_fields(const struct key_field *fields, size_t field_count, void *values)
{
	size_t count = 0;

	for (size_t i = 0; i < field_count; i++)
		count += *field_value(&fields[i], values) < 0;
	return count;
}

/* Steps over the next line if it has the field that is expected next: the same as below, without a search for line and key. */
static const struct key_field *expected_field(struct scan *text, char separator,
					      const struct key_field *fields, size_t field_count,
					      size_t *next, int64_t *ret_value)
{
	const struct key_field *field = &fields[*next];
	struct scan rest, line;
	uint64_t value;

	if (*next >= field_count || scan_left(text) <= field->key_length || *text->at != *field->key ||
	    text->at[field->key_length] != separator || memcmp(text->at, field->key, field->key_length) != 0)
		return NULL;
	rest = (struct scan){text->at + field->key_length + 1, text->end};
	if (!scan_u64(&rest, &value) || value > INT64_MAX)
		return NULL;
	*text = rest;
	(void)scan_line(text, &line);
	++*next;
	*ret_value = (int64_t)value;
	return field;
}

/* Returns the field of the next wanted line with a number, or NULL at the end. */
static const struct key_field *next_field(struct scan *text, char separator, const struct key_field *fields,
					  size_t field_count, const struct key_filter *filter, size_t *next,
					  int64_t *ret_value)
{
	const struct key_field *expected =
		expected_field(text, separator, fields, field_count, next, ret_value);
	struct scan line, key;

	if (expected)
		return expected;
	while (scan_line(text, &line)) {
		const struct key_field *field;
		uint64_t value;

		if (!has_known_letter(filter, &line) || !scan_until(&line, separator, &key) ||
		    !has_known_length(filter, &key))
			continue;
		field = find_field(&key, fields, field_count, next);
		if (!field || !scan_u64(&line, &value) || value > INT64_MAX)
			continue;
		*ret_value = (int64_t)value;
		return field;
	}
	return NULL;
}

int scan_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		    void *values)
{
	const struct key_filter filter = filter_of(fields, field_count);
	size_t next = 0, absent = count_absent_fields(fields, field_count, values);
	const struct key_field *field;
	int64_t value;
	int known = 0;

	while ((field = next_field(&text, separator, fields, field_count, &filter, &next, &value))) {
		int64_t *place = field_value(field, values);
		bool was_absent = *place < 0;

		*place = value;
		known++;
		if (was_absent && --absent == 0)
			break;
	}
	return known;
}

int sum_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		   void *values)
{
	const struct key_filter filter = filter_of(fields, field_count);
	const struct key_field *field;
	size_t next = 0;
	int64_t value;
	int known = 0;

	while ((field = next_field(&text, separator, fields, field_count, &filter, &next, &value))) {
		int64_t *sum = field_value(field, values);

		if (*sum < 0)
			*sum = value;
		else
			*sum = *sum > INT64_MAX - value ? INT64_MAX : *sum + value;
		known++;
	}
	return known;
}

void limit_key_values(const struct key_field *fields, size_t field_count, void *values, int64_t most)
{
	for (size_t i = 0; i < field_count; i++)
		if (*field_value(&fields[i], values) > most)
			*field_value(&fields[i], values) = -1;
}
