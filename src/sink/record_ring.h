/*
 * Whole records that could not be written yet, oldest first, within a fixed number of bytes.
 *
 * When there is no room for a new record the oldest ones are dropped. Memory is taken when the first record
 * is kept and given back by record_ring_done(); a ring that was never needed costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct record_ring {
	char *bytes;          /* NULL until the first record is kept */
	size_t ceiling_bytes; /* of records and their lengths together */
	size_t start, end;    /* where in `bytes` the kept records lie */
	size_t records;
	size_t record_bytes; /* without the lengths */
};

#define RECORD_RING(ceiling) ((struct record_ring){.ceiling_bytes = (ceiling)})

void record_ring_done(struct record_ring *ring);

/*
 * Keeps a copy of a record. Returns how many records were dropped for that: older ones, or only this one when
 * it is larger than the whole ring or there is no memory.
 */
size_t record_ring_add(struct record_ring *ring, const char *bytes, size_t length);

/* The oldest record, valid until the ring is changed; false if there is none. */
bool record_ring_oldest(const struct record_ring *ring, const char **ret_bytes, size_t *ret_length);

void record_ring_remove_oldest(struct record_ring *ring);
