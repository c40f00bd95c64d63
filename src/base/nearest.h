/* Finds the known word that is closest to a mistyped one. */
#pragma once

#include <stdbool.h>

struct nearest {
	const char *word; /* NULL: none is close */
	unsigned edits;   /* distance to the given word */
};

/*
 * Stores `candidate` if it is close to `given`, and closer than the word in `nearest`. A word is close if
 * `given` is its beginning (two letters at least), or if one typo per three letters turns it into `given`.
 * Returns whether it was stored.
 */
bool nearest_consider(struct nearest *nearest, const char *given, const char *candidate);

/* Counts the edits (insertion, removal, change, swap of neighbours) between two words. Long words are cut. */
unsigned edit_distance(const char *a, const char *b);
