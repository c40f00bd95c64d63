/*
 * Texts that were given to callers of a tracker. Frames are filled again while a thread samples, so a caller gets a
 * copy that stays until rt_close(). Each different text is kept once: asking again for the same value costs no memory.
 */
#pragma once

#include <stddef.h>

struct texts {
	char **slots; /* a power of two of them, linear probing; NULL is free */
	size_t size, count;
};

/* The copy of `text`; NULL without memory. */
const char *texts_keep(struct texts *texts, const char *text);
void texts_done(struct texts *texts);
