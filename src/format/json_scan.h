/*
 * Steps through JSON text without building a tree. Lines of a recording are read with this.
 *
 * If the text is not JSON at the cursor, every function returns false and leaves the cursor anywhere. The caller
 * then gives up the line. In skipped values only nesting and strings are checked.
 */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"

static inline void json_skip_space(struct scan *json)
{
	while (json->at < json->end && (unsigned char)*json->at <= ' ' &&
	       (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
		json->at++;
}

/* Steps over `c` and the blanks around it. */
static inline bool json_take(struct scan *json, char c)
{
	json_skip_space(json);
	if (json->at >= json->end || *json->at != c)
		return false;
	json->at++;
	json_skip_space(json);
	return true;
}

/* Returns the bytes between the quotes, with their escapes. */
bool json_quoted(struct scan *json, struct scan *ret_raw);

/* Appends a string's text with escapes resolved. Invalid bytes become U+FFFD. */
void json_unescape(struct buffer *out, const struct scan *raw);

/* Steps over one value of any kind. */
bool json_skip(struct scan *json);

enum json_kind { VALUE_NULL, VALUE_OTHER, VALUE_NUMBER, VALUE_STRING, VALUE_TRUE, VALUE_FALSE };

/* Takes one value. `ret_raw` is its text (strings: between the quotes). Arrays and objects are VALUE_OTHER. */
bool json_value(struct scan *json, enum json_kind *ret_kind, struct scan *ret_raw);
