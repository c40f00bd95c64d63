/* Tests of src/job/waits/wait_chain.c where the kernel does not let this user see the calls of a job. */
#include "waiting_job.h"

#include <errno.h>

static bool is_root;

/* From here on, no file of SHELL tells its call. Root may read everything, so it becomes another user. */
static void refuse_calls(void)
{
	assert_int_equal(chmod("proc/100/task/100/syscall", 0), 0);
	is_root = geteuid() == 0;
	if (is_root && seteuid(65534) < 0)
		SKIP("root cannot become another user");
}

static int end_refusal(void **state)
{
	if (is_root && seteuid(0) < 0)
		return -1;
	return end_job(state);
}

static void put_function(const char *name)
{
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	add_file(SHELL, SHELL, "wchan", name);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
}

static void expect_refusal(int error)
{
	int found_error = 0;

	assert_true(wait_chain_end(&tree, &found, &found_error));
	assert_int_equal(found_error, error);
	assert_int_equal(found.class, WAIT_OTHER);
	assert_string_equal(found.target, error ? "the kernel does not let this user see it" : "");
}

static void a_refused_call_has_the_kernels_function(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_clock_nanosleep, CALL(0));
	add_waiting(WORKER, SHELL, SYS_munmap, CALL(0));
	refuse_calls();
	expect_refusal(EACCES);
	put_function("0");
	expect_refusal(EACCES);
	put_function("ep_poll");
	expect_wait(WAIT_EVENTS, SHELL, "");
	put_function("folio_wait_bit_common");
	expect_wait(WAIT_STORAGE, SHELL, "");
	put_function("a_function_of_a_driver");
	expect_refusal(0);
	/* A wait for any child. */
	put_function("do_wait");
	expect_wait(WAIT_MEMORY, WORKER, "");
}

static void another_error_tells_nothing(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_clock_nanosleep, CALL(0));
	add_file(SHELL, SHELL, "wchan", "hrtimer_nanosleep");
	assert_int_equal(unlink("proc/100/task/100/syscall"), 0);
	expect_none();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_refused_call_has_the_kernels_function, begin_job,
						end_refusal),
		unit_test_of_job(another_error_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
