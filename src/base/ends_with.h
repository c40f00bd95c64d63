/* How texts begin and end: prefixes and suffixes of names of files, devices and columns. */
#pragma once
#include <stdbool.h>
#include <string.h>

static inline bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Also true if the text is the ending itself. */
static inline bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), wanted = strlen(ending);

	return length >= wanted && memcmp(text + length - wanted, ending, wanted) == 0;
}
