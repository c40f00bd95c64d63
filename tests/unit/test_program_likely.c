/* Tests of src/job/programs/program_likely.c: the time that an unread process probably used. */
#include "unit.h"

#include "base/clock.h"
#include "job/programs/program_likely.h"

static void test_a_process_is_as_busy_as_others_of_its_program(void **state)
{
	struct programs programs = {0};
	struct program cc1 = {0}, as = {0};

	(void)state;
	/* Nothing is known: a process without children ran all its life, and one with children waited for them. */
	assert_true(program_likely_ns(&programs, &cc1, 1000000, false) == 1001000);
	assert_true(program_likely_ns(&programs, &cc1, 1000000, true) == 101000);
	assert_true(program_likely_ns(&programs, &cc1, 0, false) > 0);
	/* The example of program_likely.h. */
	program_note_known(&programs, &cc1, 300 * NSEC_PER_MSEC, 900 * NSEC_PER_MSEC, false);
	assert_int_equal((int64_t)program_likely_ns(&programs, &cc1, 150 * NSEC_PER_MSEC, false), 50001000);
	/* Another program is as busy as all are. */
	program_note_known(&programs, &cc1, 0, 100 * NSEC_PER_MSEC, false);
	assert_int_equal((int64_t)program_likely_ns(&programs, &as, 100 * NSEC_PER_MSEC, false), 30001000);
	/* A life of unknown length teaches nothing. */
	program_note_known(&programs, &as, 5, 0, true);
	assert_int_equal(programs.known[true].life_ns + as.known.life_ns, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_is_as_busy_as_others_of_its_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
