/* Loading a vendor's library at run time. Only the helper process does this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A function and the place for its pointer. The names are tried in order, the newest version of an interface
 * first. `version` becomes the index of the name that was found.
 */
struct symbol {
	size_t offset;
	size_t version_offset; /* points to an int; SYMBOL_NO_VERSION: the version does not matter */
	const char *names[4];  /* ends with NULL, or is full */
};
#define SYMBOL_NO_VERSION ((size_t)-1)

/*
 * Loads the first of the names that works; a name with a slash is a file. On failure returns NULL and
 * *ret_message (constant until the next call).
 */
void *load_library(const char *const *names, const char **ret_message);
/* Sets the pointers. Functions that the library lacks become NULL. */
void load_symbols(void *library, const struct symbol *symbols, size_t count, void *functions);
