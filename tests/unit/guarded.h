/* Texts that end where memory ends: a function that reads one byte more crashes. */
#pragma once

#include "unit.h"

#include <sys/mman.h>

enum { GUARDED_BYTES = 1 << 16 };

/* Returns the end of the memory. */
static inline char *guarded_begin(void)
{
	char *memory =
		mmap(NULL, 2 * GUARDED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(memory + GUARDED_BYTES, GUARDED_BYTES, PROT_NONE), 0);
	return memory + GUARDED_BYTES;
}

/* Returns a copy of the text that ends there. */
static inline const char *guarded_text(char *end, const char *text, size_t length)
{
	return memcpy(end - length, text, length);
}

static inline void guarded_end(char *end)
{
	munmap(end - GUARDED_BYTES, 2 * GUARDED_BYTES);
}
