/* Keeps whole records that wait to be written. See record_ring.h. Each is stored behind its length. */
#include "sink/record_ring.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void record_ring_done(struct record_ring *ring)
{
	size_t ceiling_bytes = ring->ceiling_bytes;

	free(ring->bytes);
	*ring = RECORD_RING(ceiling_bytes);
}

bool record_ring_oldest(const struct record_ring *ring, const char **ret_bytes, size_t *ret_length)
{
	if (!ring->records)
		return false;
	memcpy(ret_length, ring->bytes + ring->start, sizeof *ret_length);
	*ret_bytes = ring->bytes + ring->start + sizeof *ret_length;
	return true;
}

void record_ring_remove_oldest(struct record_ring *ring)
{
	const char *bytes;
	size_t length;

	if (!record_ring_oldest(ring, &bytes, &length))
		return;
	ring->start += sizeof length + length;
	ring->record_bytes -= length;
	if (--ring->records == 0)
		ring->start = ring->end = 0;
}

size_t record_ring_add(struct record_ring *ring, const char *bytes, size_t length)
{
	size_t needed = sizeof length + length, dropped = 0;

	if (length > ring->ceiling_bytes || needed > ring->ceiling_bytes)
		return 1;
	if (!ring->bytes) {
		ring->bytes = malloc(ring->ceiling_bytes);
		if (!ring->bytes)
			return 1;
	}
	for (; ring->end - ring->start > ring->ceiling_bytes - needed; dropped++)
		record_ring_remove_oldest(ring);
	if (ring->end > ring->ceiling_bytes - needed) {
		memmove(ring->bytes, ring->bytes + ring->start, ring->end - ring->start);
		ring->end -= ring->start;
		ring->start = 0;
	}
	memcpy(ring->bytes + ring->end, &length, sizeof length);
	if (length)
		memcpy(ring->bytes + ring->end + sizeof length, bytes, length);
	ring->end += needed;
	ring->records++;
	ring->record_bytes += length;
	return dropped;
}
