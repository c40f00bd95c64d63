/* Lines of a key, a separator and a number; see key_values.h. */
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

/*
 * The kernel writes its keys in a fixed order, and tables are best written in the same: the search begins
 * behind the field that was found last, so that a wanted line is usually found at once.
 */
static const struct key_field *find_field(const struct scan *key, const struct key_field *fields,
					  size_t field_count, size_t *next)
{
	size_t length = scan_left(key);

	for (size_t tried = 0; tried < field_count; tried++) {
		size_t i = (*next + tried) % field_count;

		if (fields[i].key_length != length || memcmp(fields[i].key, key->at, length) != 0)
			continue;
		*next = (i + 1) % field_count;
		return &fields[i];
	}
	return NULL;
}

static void add_value(int64_t *sum, int64_t value)
{
	if (*sum < 0)
		*sum = value;
	else if (*sum > INT64_MAX - value)
		*sum = INT64_MAX;
	else
		*sum += value;
}

static int collect(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		   void *values, bool summing)
{
	struct scan line, key;
	size_t next = 0;
	int known = 0;

	while (scan_line(&text, &line)) {
		const struct key_field *field;
		uint64_t value;

		if (!scan_until(&line, separator, &key))
			continue;
		field = find_field(&key, fields, field_count, &next);
		if (!field || !scan_u64(&line, &value) || value > INT64_MAX)
			continue;
		if (summing)
			add_value(field_value(field, values), (int64_t)value);
		else
			*field_value(field, values) = (int64_t)value;
		known++;
	}
	return known;
}

int scan_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		    void *values)
{
	return collect(text, separator, fields, field_count, values, false);
}

int sum_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		   void *values)
{
	return collect(text, separator, fields, field_count, values, true);
}
