/* Tests of src/job/network/id_table.c. */
#include "unit.h"

#include "job/network/id_table.h"

static void an_id_keeps_its_last_index(void **state)
{
	struct id_table table = {0};
	uint32_t index = 9;

	(void)state;
	assert_false(id_table_find(&table, 5, &index));
	assert_int_equal(id_table_put(&table, 5, 1), 0);
	assert_int_equal(id_table_put(&table, 5, 2), 0);
	assert_true(id_table_find(&table, 5, &index));
	assert_int_equal(index, 2);
	assert_int_equal(table.count, 1);
	assert_false(id_table_find(&table, 6, &index));
	assert_false(id_table_find(&table, 0, &index));
	assert_int_equal(index, 2);
	id_table_done(&table);
}

static void a_table_that_grows_and_is_emptied_finds_all_ids_and_no_other(void **state)
{
	struct id_table table = {0};
	uint32_t index;

	(void)state;
	for (int round = 0; round < 2; round++) {
		/* Cookies and inodes follow each other closely; those of other CPUs are far away. */
		for (uint64_t i = 1; i <= 5000; i++)
			assert_int_equal(id_table_put(&table, i % 2 ? i : i << 40, (uint32_t)i), 0);
		assert_int_equal(table.count, 5000);
		for (uint64_t i = 1; i <= 5000; i++) {
			assert_true(id_table_find(&table, i % 2 ? i : i << 40, &index));
			assert_int_equal(index, i);
			assert_false(id_table_find(&table, i % 2 ? i << 40 : i, &index));
		}
		id_table_clear(&table);
		assert_false(id_table_find(&table, 1, &index));
	}
	id_table_done(&table);
}

/* Without a free place, the search for an absent id would not end. With many, memory is wasted. */
static void a_quarter_of_the_places_stays_free(void **state)
{
	struct id_table table = {0};

	(void)state;
	for (uint64_t i = 1; i <= 1024; i++) {
		assert_int_equal(id_table_put(&table, i, 0), 0);
		assert_false(id_table_find(&table, 5000, NULL));
		assert_true(table.capacity / 4 * 3 >= i);
		assert_true(table.capacity == 64 || table.capacity / 2 / 4 * 3 < i);
	}
	id_table_done(&table);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_keeps_its_last_index),
		cmocka_unit_test(a_table_that_grows_and_is_emptied_finds_all_ids_and_no_other),
		cmocka_unit_test(a_quarter_of_the_places_stays_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
