/*
 * Whole records that could not be written yet, oldest first, within a fixed number of bytes.
 *
 * If a new record does not fit, the oldest ones are dropped. The first record allocates the memory, and
 * record_ring_done() frees it, so an unused ring costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct record_ring {
	char *bytes;          /* NULL until the first record is kept */
	size_t ceiling_bytes; /* for records and their lengths together */
	size_t start, end;    /* the part of `bytes` that holds records */
	size_t records;
	size_t record_bytes; /* without the lengths */
};

#define RECORD_RING(ceiling) ((struct record_ring){.ceiling_bytes = (ceiling)})

void record_ring_done(struct record_ring *ring);

/*
 * Keeps a copy of a record. Returns how many records were dropped: older ones, or only this one if it is larger
 * than the ring or there is no memory.
 */
size_t record_ring_add(struct record_ring *ring, const char *bytes, size_t length);

/* Finds the oldest record, valid until the ring is changed. Returns false if there is none. */
bool record_ring_oldest(const struct record_ring *ring, const char **ret_bytes, size_t *ret_length);

void record_ring_remove_oldest(struct record_ring *ring);
