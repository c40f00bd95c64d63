/*
 * Texts that were given to callers of a tracker. A sampling thread overwrites the frames, so a caller gets a
 * copy that stays until rt_close(). Each text is stored once: asking again for the same value costs no
 * memory.
 */
#pragma once

#include <stddef.h>

struct texts {
	char **slots; /* a power of two, linear probing. NULL: free */
	size_t size, count;
};

/* Returns the copy of `text`, or NULL without memory. */
const char *texts_keep(struct texts *texts, const char *text);
void texts_done(struct texts *texts);
