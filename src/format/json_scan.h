/*
 * Stepping through JSON text without building anything: what a line of a recording is read with.
 *
 * Every function returns false, with the cursor anywhere, when the text is not JSON at that place; the caller then
 * gives the whole line up. Values that are stepped over are checked for their nesting and strings only.
 */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"

void json_skip_space(struct scan *json);

/* Steps over `c` and the space around it. */
bool json_take(struct scan *json, char c);

/* The bytes between the quotes, escapes untouched. */
bool json_quoted(struct scan *json, struct scan *ret_raw);

/* Appends a string's text, escapes resolved; what is not valid becomes U+FFFD. */
void json_unescape(struct buffer *out, const struct scan *raw);

/* Steps over one value of any kind. */
bool json_skip(struct scan *json);

enum json_kind { VALUE_OTHER, VALUE_NULL, VALUE_NUMBER, VALUE_STRING, VALUE_TRUE, VALUE_FALSE };

/* Takes one value. `ret_raw` is its text (strings: between the quotes). Arrays and objects are VALUE_OTHER. */
bool json_value(struct scan *json, enum json_kind *ret_kind, struct scan *ret_raw);
