/* Tests of src/base/close_descriptors.c, in forked children. */
#include "unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/close_descriptors.h"

enum { FIRST = 20, LAST = 30, FAR = 900 };

/* Opens FIRST..LAST and FAR in a child, closes from `first` on, and checks which are open then. */
static void check(int first, int keep_a, int keep_b)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		bool right = true;

		for (int fd = FIRST; fd <= LAST; fd++)
			dup2(STDIN_FILENO, fd);
		dup2(STDIN_FILENO, FAR);
		close_descriptors(first, keep_a, keep_b);
		for (int fd = FIRST; fd <= FAR; fd = fd == LAST ? FAR : fd + 1)
			right &= (fcntl(fd, F_GETFD) >= 0) == (fd < first || fd == keep_a || fd == keep_b);
		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void only_the_kept_descriptors_stay_open(void **state)
{
	(void)state;
	check(3, -1, -1);
	check(3, 25, -1);
	check(3, -1, 25);
	check(3, 29, 21);
	check(3, 21, 22);
	check(3, FAR, 20);
	check(3, 25, 25);
	check(0, -1, -1);
}

static void descriptors_below_the_first_stay_open(void **state)
{
	(void)state;
	check(25, -1, -1);
	check(25, 22, 28);
	check(25, 25, 30);
	check(25, 1, 2);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_kept_descriptors_stay_open),
		cmocka_unit_test(descriptors_below_the_first_stay_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
