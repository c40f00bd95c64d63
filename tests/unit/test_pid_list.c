/* Tests of src/kernel/pid_list.c. */
#include "kernel.h"

#include "kernel/pid_list.h"

static void assert_pids(struct scan text, const char *wanted)
{
	char found[256] = "";
	size_t length = 0;
	pid_t pid;

	while (scan_pid(&text, &pid))
		length += (size_t)snprintf(found + length, sizeof found - length, "%d ", (int)pid);
	assert_string_equal(found, wanted);
}

static void blanks_and_newlines_separate(void **state)
{
	static const char CHILDREN[] = "4217 4218 4301 ", PROCS[] = "1\n0\n77\n";

	(void)state;
	assert_pids(scan_bytes(CHILDREN, strlen(CHILDREN)), "4217 4218 4301 ");
	assert_pids(scan_bytes(PROCS, strlen(PROCS)), "1 0 77 ");
	assert_pids(scan_bytes("", 0), "");
	assert_pids(scan_bytes("42", 2), "42 ");
}

static void words_other_than_pids_are_skipped(void **state)
{
	static const char ODD[] = "x 1 -2 2147483648 2147483647 3x 99999999999999999999 4";

	(void)state;
	assert_pids(scan_bytes(ODD, strlen(ODD)), "1 2147483647 4 ");
}

static void a_list_has_its_first_and_its_last_pid(void **state)
{
	static const pid_t PIDS[] = {7, 3, 9};

	(void)state;
	assert_true(pid_list_has(PIDS, 3, 7));
	assert_true(pid_list_has(PIDS, 3, 9));
	assert_false(pid_list_has(PIDS, 2, 9));
	assert_false(pid_list_has(PIDS, 0, 7));
}

static void tabs_and_nuls_separate_as_well(void **state)
{
	(void)state;
	assert_pids(scan_bytes("1\t2\0003\n4\t\t", 9), "1 2 3 4 ");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_and_newlines_separate),
		cmocka_unit_test(a_list_has_its_first_and_its_last_pid),
		cmocka_unit_test(words_other_than_pids_are_skipped),
		cmocka_unit_test(tabs_and_nuls_separate_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
