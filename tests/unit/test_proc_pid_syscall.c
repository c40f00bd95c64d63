/* Tests of src/kernel/proc_pid_syscall.c. */
#include "kernel.h"

#include "kernel/proc_pid_syscall.h"

static int parse_syscall_text(const char *text, struct proc_pid_syscall *ret_syscall)
{
	return parse_proc_pid_syscall(text, strlen(text), ret_syscall);
}

static void a_waiting_call_has_its_arguments(void **state)
{
	struct proc_pid_syscall found;

	(void)state;
	assert_int_equal(
		parse_syscall_text("61 0xffffffff 0x7ffe5b4c9b6c 0x0 0x0 0x1 0x2 0x7ffe 0x7f84\n", &found),
		0);
	assert_false(found.is_running);
	assert_int_equal(found.number, 61);
	assert_int_equal(found.arguments[0], 0xffffffff);
	assert_int_equal(found.arguments[5], 2);
}

static void a_thread_that_runs_has_none(void **state)
{
	struct proc_pid_syscall found;

	(void)state;
	assert_int_equal(parse_syscall_text("running\n", &found), 0);
	assert_true(found.is_running);
}

static void a_wait_outside_a_call_has_no_arguments(void **state)
{
	struct proc_pid_syscall found;

	(void)state;
	assert_int_equal(parse_syscall_text("-1 0x7ffe5b4c9b88 0x7f8421e182ad\n", &found), 0);
	assert_int_equal(found.number, -1);
	assert_int_equal(found.arguments[0], 0);
}

static void parse_syscall_refuses_other_texts(void **state)
{
	static const char *const TEXTS[] = {"", "x", "-2 0x1 0x2", "1 0x1 0x2", "1 1 2 3 4 5 6 7 8"};
	struct proc_pid_syscall found = {.number = 7};

	(void)state;
	for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
		assert_int_equal(parse_syscall_text(TEXTS[i], &found), -EBADMSG);
	assert_int_equal(found.number, 7);
}

static void the_first_call_has_its_arguments_too(void **state)
{
	struct proc_pid_syscall found;

	(void)state;
	assert_int_equal(parse_syscall_text("0 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7 0x8\n", &found), 0);
	assert_int_equal(found.number, 0);
	assert_true(found.arguments[0] == 1 && found.arguments[4] == 5 && found.arguments[5] == UINT64_MAX);
	assert_int_equal(parse_syscall_text("0 0x1 0x2 0x3 0x4 0x5 0x\n", &found), -EBADMSG);
	assert_int_equal(parse_syscall_text("0 0x1 0x2 0x3 0x4 0x5\n", &found), -EBADMSG);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_call_has_its_arguments),
		cmocka_unit_test(a_thread_that_runs_has_none),
		cmocka_unit_test(a_wait_outside_a_call_has_no_arguments),
		cmocka_unit_test(parse_syscall_refuses_other_texts),
		cmocka_unit_test(the_first_call_has_its_arguments_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
