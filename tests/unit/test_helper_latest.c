/* Tests of src/helper/latest.c. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/cleanup.h"
#include "helper/latest.h"

enum { CAPACITY = 1000, ROUNDS = 20000 };

static void *new_memory(size_t capacity)
{
	void *memory = calloc(1, latest_footprint(capacity));

	assert_non_null(memory);
	return memory;
}

static void the_newest_value_is_read(void **state)
{
	CLEANUP_FREE void *memory = new_memory(CAPACITY);
	struct latest writer = latest_at(memory, CAPACITY), reader = latest_at(memory, CAPACITY);
	char text[CAPACITY];
	int64_t at_ns = 0;

	(void)state;
	assert_int_equal(latest_number(&reader), 0);
	assert_int_equal(latest_read(&reader, text, sizeof text, &at_ns), -EAGAIN);
	assert_int_equal(latest_write(&writer, "first", 5, 11), 0);
	assert_int_equal(latest_write(&writer, "the second", 10, 22), 0);
	assert_int_equal(latest_read(&reader, text, sizeof text, &at_ns), 10);
	assert_memory_equal(text, "the second", 10);
	assert_int_equal(at_ns, 22);
	assert_int_equal(latest_number(&reader), 2);
	assert_int_equal(latest_write(&writer, "", 0, 33), 0);
	assert_int_equal(latest_read(&reader, text, sizeof text, NULL), 0);
}

static void sizes_are_bounds(void **state)
{
	CLEANUP_FREE void *memory = new_memory(CAPACITY);
	struct latest latest = latest_at(memory, CAPACITY);
	char bytes[CAPACITY + 1] = {0}, room[12];

	(void)state;
	assert_int_equal(latest_write(&latest, bytes, CAPACITY + 1, 0), -EMSGSIZE);
	assert_int_equal(latest_number(&latest), 0);
	memset(bytes, 'x', sizeof bytes);
	assert_int_equal(latest_write(&latest, bytes, CAPACITY, 0), 0);
	memset(room, '-', sizeof room);
	assert_int_equal(latest_read(&latest, room, 9, NULL), -EMSGSIZE);
	assert_memory_equal(room + 9, "---", 3);
}

/* After a crash in the middle of a value, its slot is overwritten but not published. */
static void an_unfinished_value_is_never_seen(void **state)
{
	CLEANUP_FREE void *memory = new_memory(CAPACITY);
	struct latest latest = latest_at(memory, CAPACITY);
	char text[CAPACITY];

	(void)state;
	assert_int_equal(latest_write(&latest, "whole", 5, 1), 0);
	/* The next value goes into slot 0. */
	for (size_t i = 0; i < 2 + CAPACITY / 8; i++)
		atomic_store(&latest.slots[i], UINT64_MAX);
	assert_int_equal(latest_read(&latest, text, sizeof text, NULL), 5);
	assert_memory_equal(text, "whole", 5);
}

static void a_torn_length_stays_inside(void **state)
{
	CLEANUP_FREE void *memory = new_memory(CAPACITY);
	struct latest latest = latest_at(memory, CAPACITY);
	char text[CAPACITY];

	(void)state;
	assert_int_equal(latest_write(&latest, "whole", 5, 1), 0);
	atomic_store(&latest.slots[2 + CAPACITY / 8 + 1], UINT64_MAX);
	assert_int_equal(latest_read(&latest, text, sizeof text, NULL), -EAGAIN);
}

static void *write_rounds(void *argument)
{
	const struct latest *latest = argument;
	uint64_t values[CAPACITY / 8];

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (size_t i = 0; i < CAPACITY / 8; i++)
			values[i] = round;
		latest_write(latest, values, sizeof values, (int64_t)round);
	}
	return NULL;
}

static void a_read_gives_one_whole_value(void **state)
{
	CLEANUP_FREE void *memory = new_memory(CAPACITY);
	struct latest latest = latest_at(memory, CAPACITY);
	uint64_t values[CAPACITY / 8], last = 0;
	pthread_t writer;
	int64_t at_ns;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_rounds, &latest), 0);
	while (last < ROUNDS) {
		if (latest_read(&latest, values, sizeof values, &at_ns) < 0)
			continue;
		assert_true(values[0] >= last);
		last = values[0];
		assert_int_equal(at_ns, last);
		for (size_t i = 1; i < CAPACITY / 8; i++)
			assert_true(values[i] == last);
	}
	pthread_join(writer, NULL);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_value_is_read),
		cmocka_unit_test(sizes_are_bounds),
		cmocka_unit_test(an_unfinished_value_is_never_seen),
		cmocka_unit_test(a_torn_length_stays_inside),
		cmocka_unit_test(a_read_gives_one_whole_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
