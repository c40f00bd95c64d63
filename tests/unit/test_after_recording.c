/* Tests of src/cli/after_recording.c: which signals cut the end short. The rest is in test_recorder_program.c. */
#include "unit.h"

#include <signal.h>

#include "cli/after_recording.h"

static const int GOING[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
static sigset_t mask_before;

static int block_signals(void **state)
{
	sigset_t all;

	(void)state;
	sigfillset(&all);
	return sigprocmask(SIG_SETMASK, &all, &mask_before);
}

static int unblock_signals(void **state)
{
	sigset_t left;

	(void)state;
	sigemptyset(&left);
	sigaddset(&left, SIGUSR1);
	while (sigtimedwait(&left, NULL, &(struct timespec){0}) > 0)
		continue;
	return sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

static void four_signals_tell_the_recorder_to_go(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++) {
		assert_false(is_told_to_go());
		raise(GOING[i]);
		assert_true(is_told_to_go());
		forget_signals();
		assert_false(is_told_to_go());
	}
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++)
		raise(GOING[i]);
	forget_signals();
	assert_false(is_told_to_go());
}

static void other_signals_and_ignored_ones_do_not(void **state)
{
	void (*before)(int) = signal(SIGHUP, SIG_IGN);
	bool is_told;

	(void)state;
	raise(SIGHUP);
	is_told = is_told_to_go();
	signal(SIGHUP, before);
	forget_signals();
	assert_false(is_told);
	raise(SIGUSR1);
	assert_false(is_told_to_go());
	forget_signals();
	assert_false(is_told_to_go());
}

#define unit_test_of_signals(test) cmocka_unit_test_setup_teardown(test, block_signals, unblock_signals)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_signals(four_signals_tell_the_recorder_to_go),
		unit_test_of_signals(other_signals_and_ignored_ones_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
