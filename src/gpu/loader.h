/* Loading a vendor's library at run time. Only the helper process does this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A function and where its pointer goes. The names are tried in order: the newest version of an interface
 * first; `version` tells which one was found, from 0.
 */
struct symbol {
	size_t offset;
	size_t version_offset; /* of an int; SYMBOL_NO_VERSION: the version does not matter */
	const char *names[4];  /* ends with NULL, or is full */
};
#define SYMBOL_NO_VERSION ((size_t)-1)

/* The first of the names that loads; names with a slash are files. NULL and *ret_message (constant until the next
 * call) if none does. */
void *load_library(const char *const *names, const char **ret_message);
/* Pointers of functions that the library does not have become NULL. */
void load_symbols(void *library, const struct symbol *symbols, size_t count, void *functions);
