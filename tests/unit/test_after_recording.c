/* Tests of src/cli/after_recording.c: which signals cut the end short. The rest is in test_recorder_program.c. */
#include "unit.h"

#include <signal.h>

#include "cli/after_recording.h"

static const int GOING[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
static sigset_t mask_before;
static void (*handlers_before[sizeof GOING / sizeof *GOING])(int);

static int block_signals(void **state)
{
	sigset_t all;

	(void)state;
	/* nohup ignores one. */
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++)
		handlers_before[i] = signal(GOING[i], SIG_DFL);
	sigfillset(&all);
	return sigprocmask(SIG_SETMASK, &all, &mask_before);
}

static int unblock_signals(void **state)
{
	(void)state;
	/* One that is ignored is no longer pending. */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++) {
		signal(GOING[i], SIG_IGN);
		signal(GOING[i], handlers_before[i]);
	}
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
	(void)state;
	signal(SIGHUP, SIG_IGN);
	raise(SIGHUP);
	assert_false(is_told_to_go());
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
