/* Tests of src/sink/record_ring.c. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/record_ring.h"

static void assert_oldest(const struct record_ring *ring, const char *text)
{
	const char *bytes;
	size_t length;

	assert_true(record_ring_oldest(ring, &bytes, &length));
	assert_int_equal(length, strlen(text));
	assert_memory_equal(bytes, text, length);
}

static void records_come_back_in_order(void **state)
{
	struct record_ring ring = RECORD_RING(4096);
	const char *bytes;
	size_t length;

	(void)state;
	assert_false(record_ring_oldest(&ring, &bytes, &length));
	record_ring_remove_oldest(&ring);
	assert_int_equal(record_ring_add(&ring, "one\n", 4), 0);
	assert_int_equal(record_ring_add(&ring, "", 0), 0);
	assert_int_equal(record_ring_add(&ring, "three\n", 6), 0);
	assert_int_equal(ring.records, 3);
	assert_int_equal(ring.record_bytes, 10);
	assert_oldest(&ring, "one\n");
	record_ring_remove_oldest(&ring);
	assert_oldest(&ring, "");
	record_ring_remove_oldest(&ring);
	assert_oldest(&ring, "three\n");
	record_ring_remove_oldest(&ring);
	assert_false(record_ring_oldest(&ring, &bytes, &length));
	record_ring_done(&ring);
}

static void the_oldest_make_room(void **state)
{
	const size_t each = sizeof(size_t) + 4;
	struct record_ring ring = RECORD_RING(3 * each);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(record_ring_add(&ring, "abc\n", 4), 0);
	assert_int_equal(record_ring_add(&ring, "def\n", 4), 1);
	/* Twice as long: two of the small ones are dropped. */
	assert_int_equal(record_ring_add(&ring, "0123456789\n", 11), 2);
	assert_int_equal(ring.records, 2);
	assert_oldest(&ring, "def\n");
	record_ring_remove_oldest(&ring);
	assert_oldest(&ring, "0123456789\n");
	record_ring_done(&ring);
}

static void a_record_larger_than_the_ring_is_dropped_alone(void **state)
{
	struct record_ring ring = RECORD_RING(64);
	char large[65] = {0};

	(void)state;
	assert_int_equal(record_ring_add(&ring, "kept\n", 5), 0);
	assert_int_equal(record_ring_add(&ring, large, sizeof large), 1);
	assert_int_equal(record_ring_add(&ring, large, SIZE_MAX), 1);
	assert_int_equal(ring.records, 1);
	assert_oldest(&ring, "kept\n");
	record_ring_done(&ring);
}

/* Compares with a list of the numbers that must remain. */
static void a_long_random_run_loses_only_the_oldest(void **state)
{
	struct record_ring ring = RECORD_RING(1000);
	unsigned seed = 1;
	int first = 0, next = 0;

	(void)state;
	for (int step = 0; step < 20000; step++) {
		char record[128];

		if (rand_r(&seed) % 3) {
			int length = snprintf(record, sizeof record, "%d%*s\n", next, rand_r(&seed) % 90, "");

			first += (int)record_ring_add(&ring, record, (size_t)length);
			next++;
		} else if (first < next) {
			record_ring_remove_oldest(&ring);
			first++;
		}
		assert_int_equal(ring.records, next - first);
		assert_true(ring.end - ring.start == ring.record_bytes + ring.records * sizeof(size_t));
		if (first < next) {
			const char *bytes;
			size_t length;
			int digits = snprintf(record, sizeof record, "%d", first);

			assert_true(record_ring_oldest(&ring, &bytes, &length));
			assert_memory_equal(bytes, record, (size_t)digits);
			assert_true(bytes[digits] == ' ' || bytes[digits] == '\n');
		}
	}
	assert_true(first > 1000);
	record_ring_done(&ring);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_in_order),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(a_record_larger_than_the_ring_is_dropped_alone),
		cmocka_unit_test(a_long_random_run_loses_only_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
