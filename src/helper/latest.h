/*
 * The latest value of something, in memory that two processes share: one writes, one reads, neither waits. Two
 * slots take turns, so if a writer dies in the middle of a value, the previous one is intact. The bytes are
 * copied as atomic words. A reader gets one whole value, or none if the writer has overtaken it twice
 * meanwhile.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* One side's view. It lies outside the shared memory, so the other side cannot damage it. */
struct latest {
	_Atomic uint64_t *published; /* number of the newest value, from 1. 0: none yet */
	_Atomic uint64_t *slots;
	size_t capacity_bytes; /* of a slot, a multiple of 8 */
};

/* The size of the shared memory for values of up to this many bytes. A multiple of 8. */
size_t latest_footprint(size_t capacity_bytes);
/* `memory` must be aligned to 8 bytes, and zero before either side uses it. */
struct latest latest_at(void *memory, size_t capacity_bytes);

/* -EMSGSIZE: too long. Only one thread of one process may write. */
int latest_write(const struct latest *latest, const void *bytes, size_t length, int64_t at_ns);

/* The number of the newest value, 0 for none yet. */
uint64_t latest_number(const struct latest *latest);

/*
 * Copies the newest value and returns its length. -EAGAIN: none yet, or it was being replaced; -EMSGSIZE:
 * longer than `size`. ret_at_ns (may be NULL) is the writer's time for the value.
 */
ptrdiff_t latest_read(const struct latest *latest, void *ret_bytes, size_t size, int64_t *ret_at_ns);
