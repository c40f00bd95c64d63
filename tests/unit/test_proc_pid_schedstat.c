/* Tests of src/kernel/proc_pid_schedstat.c. */
#include "kernel.h"

#include "kernel/proc_pid_schedstat.h"

static void all_three_numbers_count(void **state)
{
	struct proc_pid_schedstat found;

	(void)state;
	assert_int_equal(parse_proc_pid_schedstat("67940794 177186683 223\n", 23, &found), 0);
	assert_int_equal(found.run_ns, 67940794);
	assert_int_equal(found.wait_ns, 177186683);
	assert_int_equal(found.turns, 223);
}

static void three_zeros_are_absent(void **state)
{
	struct proc_pid_schedstat found = {.turns = 7};

	(void)state;
	assert_int_equal(parse_proc_pid_schedstat("0 0 0\n", 6, &found), -ENODATA);
	assert_int_equal(found.turns, 7);
}

static void parse_schedstat_refuses_other_texts(void **state)
{
	static const char *const TEXTS[] = {"",       "1 2",    "1 x 3",
					    "1 2 3x", "-1 2 3", "1 99999999999999999999 3"};
	struct proc_pid_schedstat found = {.turns = 7};

	(void)state;
	for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
		assert_int_equal(parse_proc_pid_schedstat(TEXTS[i], strlen(TEXTS[i]), &found), -EBADMSG);
	assert_int_equal(found.turns, 7);
}

static void numbers_have_their_most(void **state)
{
	struct proc_pid_schedstat found;

	(void)state;
	assert_int_equal(parse_proc_pid_schedstat("9223372036854775807 0 0", 23, &found), 0);
	assert_true(found.run_ns == INT64_MAX && found.wait_ns == 0 && found.turns == 0);
	assert_int_equal(parse_proc_pid_schedstat("0 0 1", 5, &found), 0);
	assert_int_equal(found.turns, 1);
	assert_int_equal(parse_proc_pid_schedstat("0 1 0", 5, &found), 0);
	assert_int_equal(parse_proc_pid_schedstat("9223372036854775808 0 0", 23, &found), -EBADMSG);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_three_numbers_count),
		cmocka_unit_test(three_zeros_are_absent),
		cmocka_unit_test(parse_schedstat_refuses_other_texts),
		cmocka_unit_test(numbers_have_their_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
