/* A latest-value box in shared memory. See latest.h. */
#include "helper/latest.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "atomics that take a lock cannot be shared between processes");

typedef _Atomic uint64_t atomic_word;

enum { WORD = 8, SLOT_HEAD_WORDS = 2, READ_TRIES = 3 };

static size_t words_of_bytes(size_t bytes)
{
	return (bytes + WORD - 1) / WORD;
}

static size_t slot_words(size_t capacity_bytes)
{
	return SLOT_HEAD_WORDS + words_of_bytes(capacity_bytes);
}

size_t latest_footprint(size_t capacity_bytes)
{
	return (1 + 2 * slot_words(capacity_bytes)) * WORD;
}

struct latest latest_at(void *memory, size_t capacity_bytes)
{
	atomic_word *at = memory;

	return (struct latest){at, at + 1, words_of_bytes(capacity_bytes) * WORD};
}

/* A slot is when, how long, and the bytes. */
static atomic_word *value_slot(const struct latest *latest, uint64_t number)
{
	return latest->slots + (number & 1) * slot_words(latest->capacity_bytes);
}

int latest_write(const struct latest *latest, const void *bytes, size_t length, int64_t at_ns)
{
	uint64_t number = atomic_load_explicit(latest->published, memory_order_relaxed) + 1;
	atomic_word *at = value_slot(latest, number);
	const char *from = bytes;

	if (length > latest->capacity_bytes)
		return -EMSGSIZE;
	/*
	 * Release: a reader that sees one of these words also sees that the value before this one is published.
	 */
	atomic_store_explicit(at++, (uint64_t)at_ns, memory_order_release);
	atomic_store_explicit(at++, length, memory_order_release);
	for (; length >= WORD; length -= WORD, from += WORD) {
		uint64_t word;

		memcpy(&word, from, WORD);
		atomic_store_explicit(at++, word, memory_order_release);
	}
	if (length) {
		uint64_t word = 0;

		memcpy(&word, from, length);
		atomic_store_explicit(at, word, memory_order_release);
	}
	atomic_store_explicit(latest->published, number, memory_order_release);
	return 0;
}

uint64_t latest_number(const struct latest *latest)
{
	return atomic_load_explicit(latest->published, memory_order_acquire);
}

static ptrdiff_t try_read(const struct latest *latest, char *to, size_t size, int64_t *ret_at_ns)
{
	uint64_t number = latest_number(latest), length;
	const atomic_word *at = value_slot(latest, number);
	size_t left;
	int64_t at_ns;

	if (!number)
		return -EAGAIN;
	/* Acquire: the number must be read again after all of these. */
	at_ns = (int64_t)atomic_load_explicit(at++, memory_order_acquire);
	length = atomic_load_explicit(at++, memory_order_acquire);
	/* A torn length must not lead out of the slot, because the number is checked only afterwards. */
	if (length > latest->capacity_bytes)
		return -EAGAIN;
	for (left = length < size ? length : size; left >= WORD; left -= WORD, to += WORD) {
		uint64_t word = atomic_load_explicit(at++, memory_order_acquire);

		memcpy(to, &word, WORD);
	}
	if (left) {
		uint64_t word = atomic_load_explicit(at, memory_order_acquire);

		memcpy(to, &word, left);
	}
	if (atomic_load_explicit(latest->published, memory_order_relaxed) != number)
		return -EAGAIN;
	if (length > size)
		return -EMSGSIZE;
	if (ret_at_ns)
		*ret_at_ns = at_ns;
	return (ptrdiff_t)length;
}

ptrdiff_t latest_read(const struct latest *latest, void *ret_bytes, size_t size, int64_t *ret_at_ns)
{
	ptrdiff_t length = -EAGAIN;

	for (int i = 0; i < READ_TRIES && length == -EAGAIN; i++)
		length = try_read(latest, ret_bytes, size, ret_at_ns);
	return length;
}
