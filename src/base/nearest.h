/* Which known word a mistyped one was meant for. */
#pragma once

#include <stdbool.h>

struct nearest {
	const char *word; /* NULL: none is near */
	unsigned edits;   /* between it and what was given */
};

/*
 * Takes `candidate` over if it is near `given`, and nearer than what `nearest` has. Near is a word that `given` begins
 * (two letters at least), or one that a third of its letters in typos make of it. Returns whether it was taken.
 */
bool nearest_consider(struct nearest *nearest, const char *given, const char *candidate);

/* Edits (insertion, removal, change, swap of neighbours) between two words; long words are cut. */
unsigned edit_distance(const char *a, const char *b);
