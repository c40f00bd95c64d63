/* Tests of src/base/file_lock.c. */
#include <string.h>
#include <sys/sysmacros.h>

#include "unit.h"

#include "base/file_lock.h"

static size_t find(const char *text, pid_t *ret_pids, size_t most)
{
	struct stat file = {.st_dev = makedev(0xfe, 1), .st_ino = 1234};

	return parse_proc_locks(text, strlen(text), &file, ret_pids, most);
}

static void holders_of_the_file_are_found(void **state)
{
	static const char LOCKS[] = "1: POSIX  ADVISORY  WRITE 10 fe:01:1234 0 EOF\n"
				    "2: FLOCK  ADVISORY  WRITE 11 fe:01:1234 0 EOF\n"
				    "2: -> FLOCK  ADVISORY  WRITE 12 fe:01:1234 0 EOF\n"
				    "3: FLOCK  ADVISORY  READ 13 fe:01:1235 0 EOF\n"
				    "4: FLOCK  ADVISORY  READ 14 fe:02:1234 0 EOF\n"
				    "5: FLOCK  ADVISORY  READ 0 fe:01:1234 0 EOF\n";
	pid_t pids[4] = {0};

	(void)state;
	assert_int_equal(find(LOCKS, pids, 4), 2);
	assert_int_equal(pids[0], 11);
	assert_int_equal(pids[1], 0);
	/* There are more than there is room for. */
	pids[1] = 77;
	assert_int_equal(find(LOCKS, pids, 1), 2);
	assert_int_equal(pids[1], 77);
}

static void odd_lines_are_skipped(void **state)
{
	pid_t pids[1] = {5};

	(void)state;
	assert_int_equal(find("", pids, 1), 0);
	assert_int_equal(
		find("1: FLOCK\n2: FLOCK ADVISORY READ x fe:01:1234\n3: FLOCK ADVISORY READ 9 fe01:1234\n",
		     pids, 1),
		0);
	assert_int_equal(pids[0], 5);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_of_the_file_are_found),
		cmocka_unit_test(odd_lines_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
