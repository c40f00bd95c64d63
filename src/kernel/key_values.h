/*
 * The form that most kernel files share: lines of a key, a separator and a number.
 *
 * A table lists the wanted keys, and the places for their numbers in a struct of int64_t fields.
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
 * Sets the fields whose lines exist: "key<separator> 123 anything". Unknown keys, lines without a number and
 * numbers beyond int64_t are skipped. Reading ends when all fields are set, because a key never repeats.
 * Returns how many lines were known. Fields without a line stay unchanged.
 */
int scan_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		    void *values);

/* The same, but lines with the same key add up (per-mapping files). */
int sum_key_values(struct scan text, char separator, const struct key_field *fields, size_t field_count,
		   void *values);

/* No machine has more of anything that the kernel counts in kB: a PiB. A larger number is damage. */
#define KIB_MOST (INT64_C(1) << 40)

/* Makes fields above `most` absent. */
void limit_key_values(const struct key_field *fields, size_t field_count, void *values, int64_t most);
