/*
 * The shape that most kernel files share: lines of a key, a separator and a number.
 *
 * A table says which keys matter and where in a struct of int64_t fields their numbers go.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"

struct key_field {
	const char *key;
	size_t key_length;
	size_t offset;
};

/* member must be an int64_t of struct_type. */
#define KEY_FIELD(key_text, struct_type, member) \
	{ \
		(key_text), sizeof(key_text) - 1, offsetof(struct_type, member) \
	}

/* Marks every field of the table as absent (-1). */
void clear_key_values(const struct key_field *fields, size_t field_count, void *values);

/*
 * Sets the fields whose lines are there: "key<separator> 123 anything". Unknown keys, lines without a number and
 * numbers beyond int64_t are skipped. Reading ends when no field is absent any more, since no key comes twice. Returns
 * how many lines were known. Fields without a line stay as they are.
 */
int scan_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		    void *values);

/* The same, but lines with the same key add up (per-mapping files). */
int sum_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		   void *values);
