/*
 * The latest value of something, in memory that two processes share: one writes, one reads, neither waits. Two
 * slots take turns, so that a writer that dies in the middle of a value leaves the one before it whole. The
 * bytes are copied as atomic words: a reader gets one value or, when the writer has overtaken it twice
 * meanwhile, none.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* One side's view. It lies outside the shared memory, so the other side cannot damage it. */
struct latest {
	_Atomic uint64_t *published; /* number of the newest value, from 1; 0: none yet */
	_Atomic uint64_t *slots;
	size_t capacity_bytes; /* of a slot; a multiple of 8 */
};

/* The shared memory that values of up to so many bytes take; a multiple of 8. */
size_t latest_footprint(size_t capacity_bytes);
/* `memory` is aligned to 8 bytes and was zero before either side came. */
struct latest latest_at(void *memory, size_t capacity_bytes);

/* -EMSGSIZE when it does not fit. Only one thread of one process may write. */
int latest_write(const struct latest *latest, const void *bytes, size_t length, int64_t at_ns);

/* The number of the newest value; 0: none yet. */
uint64_t latest_number(const struct latest *latest);

/*
 * Copies the newest value and returns its length. -EAGAIN: none yet, or it was being replaced; -EMSGSIZE:
 * longer than `size`. ret_at_ns (may be NULL) is when the writer said it was so.
 */
ptrdiff_t latest_read(const struct latest *latest, void *ret_bytes, size_t size, int64_t *ret_at_ns);
