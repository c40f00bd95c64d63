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

/* Even a nanosecond, in which a program has used nothing. */
static void test_the_shortest_life_tells_how_busy_a_program_is(void **state)
{
	struct programs programs = {0};
	struct program cc1 = {0}, as = {0};

	(void)state;
	program_note_known(&programs, &cc1, 0, 1, false);
	assert_int_equal(cc1.known.life_ns, 1);
	assert_int_equal(cc1.known.cpu_ns, 0);
	assert_true(program_likely_ns(&programs, &cc1, 1000000, false) == LIKELY_LEAST_NS);
	assert_true(program_likely_ns(&programs, &as, 1000000, false) == LIKELY_LEAST_NS);
	program_note_known(&programs, &cc1, 1, 1, false);
	assert_true(program_likely_ns(&programs, &cc1, 1000000, false) == LIKELY_LEAST_NS + 500000);
	assert_true(program_likely_ns(&programs, &as, 1000000, false) == LIKELY_LEAST_NS + 500000);
	/* Its own figures are better than those of all. */
	program_note_known(&programs, &as, 1, 1, false);
	assert_true(program_likely_ns(&programs, &as, 1000000, false) == LIKELY_LEAST_NS + 1000000);
	program_note_named(&cc1, 0, 1);
	assert_int_equal(cc1.named.count, 1);
}

/* A shell has started four processes that were named, and one that ended unread. */
static void test_an_unread_process_was_one_of_its_siblings(void **state)
{
	enum { SHELL, CC1, AS, LONG_ONE };
	const int64_t life_ns = 10 * NSEC_PER_MSEC;
	struct program list[4] = {0};
	struct programs programs = {.at = list, .count = 4};
	double whole;

	(void)state;
	for (int i = 0; i < 4; i++)
		list[i].named.parent = NO_PROGRAM;
	whole = program_likely_ns(&programs, &list[CC1], life_ns, false);
	for (int i = 0; i < 3; i++)
		program_note_named(&list[CC1], SHELL, life_ns);
	program_note_named(&list[AS], SHELL, life_ns);
	program_note_named(&list[LONG_ONE], SHELL, 1000 * life_ns);
	program_miss(&programs, &list[SHELL], SHELL, life_ns, life_ns, false);
	assert_true(list[CC1].missed_ns == 0.75 * whole && list[AS].missed_ns == 0.25 * whole);
	assert_true(list[SHELL].missed_ns == 0 && list[LONG_ONE].missed_ns == 0);
	/* Those of another parent do not count, and without siblings its own program is the best guess. */
	program_miss(&programs, &list[SHELL], AS, life_ns, life_ns, false);
	assert_true(list[SHELL].missed_ns == whole);
	program_miss(&programs, &list[SHELL], NO_PROGRAM, life_ns, life_ns, false);
	assert_true(list[SHELL].missed_ns == 2 * whole);
	assert_true(list[CC1].missed_ns == 0.75 * whole);
	/* A new parent begins anew, and a life of unknown length teaches nothing. */
	program_note_named(&list[CC1], AS, life_ns);
	program_note_named(&list[CC1], AS, 0);
	program_note_named(&list[CC1], NO_PROGRAM, life_ns);
	assert_int_equal(list[CC1].named.count, 1);
	assert_int_equal(list[CC1].named.life_ns, life_ns);
}

/* Up to four times as long, or as short. The time is in milliseconds. */
static void test_siblings_of_other_lives_are_not_alike(void **state)
{
	static const struct {
		int mean, life;
		bool alike;
	} CASES[] = {{10, 40, true}, {10, 44, false}, {40, 10, true}, {44, 10, false}};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof CASES / sizeof *CASES; i++) {
		struct program list[2] = {0}, *named = &list[i % 2], *other = &list[1 - i % 2];
		struct programs programs = {.at = list, .count = 2};

		other->named.parent = NO_PROGRAM;
		program_note_named(named, 0, CASES[i / 2].mean * NSEC_PER_MSEC);
		/* Neither of these tells anything. */
		program_note_named(named, NO_PROGRAM, 5);
		program_note_named(named, 0, 0);
		assert_int_equal(named->named.count, 1);
		program_miss(&programs, other, 0, CASES[i / 2].life * NSEC_PER_MSEC, NSEC_PER_MSEC, false);
		assert_true((named->missed_ns > 0) == CASES[i / 2].alike);
		assert_true((other->missed_ns > 0) != CASES[i / 2].alike);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_is_as_busy_as_others_of_its_program),
		cmocka_unit_test(test_the_shortest_life_tells_how_busy_a_program_is),
		cmocka_unit_test(test_an_unread_process_was_one_of_its_siblings),
		cmocka_unit_test(test_siblings_of_other_lives_are_not_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
