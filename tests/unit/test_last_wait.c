/* Tests of src/cli/last_wait.c: which signals cut the end short, and how long a program is waited for. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/last_wait.h"

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
	sigset_t left;

	(void)state;
	sigemptyset(&left);
	sigaddset(&left, SIGUSR1);
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++)
		sigaddset(&left, GOING[i]);
	while (sigtimedwait(&left, NULL, &(struct timespec){0}) > 0)
		continue;
	for (size_t i = 0; i < sizeof GOING / sizeof *GOING; i++)
		signal(GOING[i], handlers_before[i]);
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

/* ---- programs ---- */

static pid_t start_pausing(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void a_program_without_progress_is_given_up_and_ended(void **state)
{
	int64_t begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	pid_t pid = start_pausing();
	int status = 77;

	(void)state;
	assert_false(wait_while_it_works(pid, 100 * NSEC_PER_MSEC, &status));
	assert_true(SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns >= 90 * NSEC_PER_MSEC);
	assert_int_equal(status, 77);
	assert_int_equal(kill(pid, 0), 0);
	end_without_progress(pid);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static _Noreturn void work_for(clock_t most)
{
	while (clock() < most)
		continue;
	_exit(3);
}

static void a_program_that_works_is_waited_for(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		work_for(CLOCKS_PER_SEC / 2);
	assert_true(wait_while_it_works(pid, 400 * NSEC_PER_MSEC, &status));
	assert_int_equal(status, 3 << 8);
}

static void a_signal_ends_the_wait_for_a_program_that_runs(void **state)
{
	pid_t pid = start_pausing(), ended = fork();
	siginfo_t info;
	int status;

	(void)state;
	if (ended == 0)
		_exit(5);
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
	raise(SIGTERM);
	assert_false(wait_while_it_works(pid, 60 * NSEC_PER_SEC, &status));
	assert_true(wait_while_it_works(ended, 60 * NSEC_PER_SEC, &status));
	assert_int_equal(status, 5 << 8);
	end_without_progress(pid);
}

#define unit_test_of_signals(test) cmocka_unit_test_setup_teardown(test, block_signals, unblock_signals)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_signals(four_signals_tell_the_recorder_to_go),
		unit_test_of_signals(other_signals_and_ignored_ones_do_not),
		unit_test_of_signals(a_program_without_progress_is_given_up_and_ended),
		unit_test_of_signals(a_program_that_works_is_waited_for),
		unit_test_of_signals(a_signal_ends_the_wait_for_a_program_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
