/* Recognises HTML pages: a report replaces such a file, but no other content. */
#pragma once

#include <stdbool.h>

/*
 * Whether the file begins like an HTML page, or is empty: mktemp makes empty files for pages. False as well if this user
 * cannot read it.
 */
bool is_page(const char *path);
