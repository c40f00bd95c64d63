/* The words of a command line, as main() gets them. */
#pragma once

#include "unit.h"

/* The words of "resource-tracker -q -- ''" between single blanks, '' as an empty one. They are valid until the next call. */
static inline char **words_of(const char *line)
{
	static char text[4000];
	static char *words[16];
	char *rest = text;
	size_t count = 0;

	assert_true(strlen(line) < sizeof text);
	strcpy(text, line);
	while (rest) {
		assert_true(count + 1 < sizeof words / sizeof *words);
		words[count] = strsep(&rest, " ");
		if (strcmp(words[count], "''") == 0)
			*words[count] = '\0';
		count++;
	}
	words[count] = NULL;
	return words;
}
