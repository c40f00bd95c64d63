/* Tests of src/job/programs/known_processes.c: a hash table by pid. */
#include "unit.h"

#include <errno.h>

#include "job/programs/known_processes.h"

static int add(struct known_processes *known, pid_t pid)
{
	return known_processes_add(known, &(struct known_process){.pid = pid});
}

/* Pids that are the same modulo the number of slots stand in one chain. */
static void test_a_removed_process_leaves_the_rest_of_its_chain(void **state)
{
	struct known_processes known = {0};

	(void)state;
	for (pid_t pid = 1; pid <= 81; pid += 16)
		assert_int_equal(add(&known, pid), 0);
	assert_int_equal(known.slots, 16);
	known_processes_remove(&known, known_processes_find(&known, 17));
	assert_int_equal(known.count, 5);
	assert_null(known_processes_find(&known, 17));
	for (pid_t pid = 1; pid <= 81; pid += 16)
		if (pid != 17)
			assert_int_equal(known_processes_find(&known, pid)->pid, pid);
	known_processes_clear(&known);
	assert_null(known_processes_find(&known, 33));
	known_processes_done(&known);
}

/* Wherever a chain begins, how long it is, and which one of it goes. */
static void test_chains_of_any_length_lose_only_the_removed(void **state)
{
	enum { SLOTS = 16, LONGEST = 7 };

	(void)state;
	for (pid_t first = 1; first <= SLOTS; first++)
		for (int length = 1; length <= LONGEST; length++)
			for (int gone = 0; gone < length; gone++) {
				struct known_processes known = {0};

				for (int i = 0; i < length; i++)
					assert_int_equal(add(&known, first + i * SLOTS), 0);
				assert_int_equal(known.slots, SLOTS);
				known_processes_remove(&known,
						       known_processes_find(&known, first + gone * SLOTS));
				assert_int_equal(known.count, length - 1);
				for (int i = 0; i < length; i++)
					assert_int_equal(known_processes_find(&known, first + i * SLOTS) !=
								 NULL,
							 i != gone);
				known_processes_done(&known);
			}
}

static void test_a_pid_below_one_is_unknown(void **state)
{
	struct known_processes known = {0};

	(void)state;
	assert_null(known_processes_find(&known, 1));
	assert_int_equal(add(&known, 1), 0);
	assert_null(known_processes_find(&known, 0));
	assert_null(known_processes_find(&known, -1));
	known_processes_done(&known);
}

static void test_the_table_ends_at_half_of_65536_slots(void **state)
{
	struct known_processes known = {0};
	pid_t pid = 1;

	(void)state;
	while (pid <= 100000 && add(&known, pid) == 0)
		pid++;
	assert_int_equal(pid, 32769);
	assert_int_equal(add(&known, pid), -ENOMEM);
	assert_int_equal(known.count, 32768);
	assert_non_null(known_processes_find(&known, 32768));
	known_processes_done(&known);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_removed_process_leaves_the_rest_of_its_chain),
		cmocka_unit_test(test_chains_of_any_length_lose_only_the_removed),
		cmocka_unit_test(test_a_pid_below_one_is_unknown),
		cmocka_unit_test(test_the_table_ends_at_half_of_65536_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
