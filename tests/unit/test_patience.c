/* Tests of src/net/patience.c: how long it waits, and what ends it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/patience.h"

static const int64_t LONG_NS = 900 * NSEC_PER_SEC;

static void no_end_no_deadline(void **state)
{
	struct patience patience = PATIENCE;

	(void)state;
	assert_false(patience_ended(&patience));
	assert_false(patience_over(&patience));
	assert_true(patience_left_ms(&patience, INT64_MAX) > 1000000);
	assert_int_equal(patience_left_ms(&patience, monotonic_ns() - 1), 0);
}

static void the_deadline_is_set_once(void **state)
{
	struct patience patience = PATIENCE;
	int64_t deadline;
	int left;

	(void)state;
	patience.grace_ns = LONG_NS;
	patience_end(&patience);
	deadline = patience.deadline_ns;
	patience.grace_ns = 0;
	patience_end(&patience);
	assert_int_equal(patience.deadline_ns, deadline);
	assert_true(patience_ended(&patience));
	assert_false(patience_over(&patience));
	left = patience_left_ms(&patience, INT64_MAX);
	assert_true(left > 890 * 1000 && left <= 900 * 1000);
	/* Whichever is first. */
	left = patience_left_ms(&patience, monotonic_ns() + 2 * NSEC_PER_SEC);
	assert_true(left > 1000 && left <= 2000);
	/* A process that is looked at four times a second shortens a wait only before the end. */
	patience.end_pid = getpid();
	assert_true(patience_left_ms(&patience, monotonic_ns() + 20 * NSEC_PER_SEC) > 10000);
	patience.deadline_ns = INT64_MAX;
	assert_int_equal(patience_left_ms(&patience, monotonic_ns() + 20 * NSEC_PER_SEC), 250);
	patience.end_pid = 0;
	assert_int_equal(patience_left_ms(&patience, monotonic_ns() + 2000 * NSEC_PER_SEC), INT32_MAX / 2);
	patience.deadline_ns = monotonic_ns();
	assert_true(patience_over(&patience));
}

static void a_pipe_that_hangs_up_is_the_end(void **state)
{
	struct patience patience = PATIENCE;
	struct pollfd fds[PATIENCE_FDS];
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	patience.end_fd = pipe_fds[0];
	assert_int_equal(patience_fds(&patience, fds), 1);
	assert_false(patience_ended(&patience));
	close(pipe_fds[1]);
	assert_true(patience_ended(&patience));
	assert_true(patience_over(&patience)); /* without a grace */
	/* It would wake every poll from now on. */
	assert_int_equal(patience_fds(&patience, fds), 0);
	close(pipe_fds[0]);
}

static void a_process_that_ends_is_the_end(void **state)
{
	struct patience patience = PATIENCE;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(patience_watch_pid(&patience, pid), 0);
	assert_false(patience_ended(&patience));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(patience_ended(&patience));
	if (patience.end_fd >= 0)
		close(patience.end_fd);
	patience = PATIENCE;
	assert_int_equal(patience_watch_pid(&patience, pid), -ESRCH);
	assert_int_equal(patience.end_fd, -1);
	/* Where the kernel has no pidfd, it looks several times a second. */
	patience.end_pid = getpid();
	assert_false(patience_ended(&patience));
	assert_int_equal(patience_left_ms(&patience, monotonic_ns() + LONG_NS), 250);
	assert_true(patience_left_ms(&patience, monotonic_ns() + 100 * NSEC_PER_MSEC) <= 100);
	patience.end_pid = pid;
	assert_true(patience_ended(&patience));
}

static void one_signal_is_the_end_and_two_end_the_waiting(void **state)
{
	struct patience patience = PATIENCE;
	sigset_t set;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	patience.signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	patience.grace_ns = LONG_NS;
	raise(SIGUSR1);
	assert_true(patience_ended(&patience));
	assert_false(patience_over(&patience));
	raise(SIGUSR1);
	assert_true(patience_over(&patience));
	/* Before the end and shortly after it, signals are the job's. */
	patience.deadline_ns = INT64_MAX;
	patience.deaf_ns = LONG_NS;
	raise(SIGUSR1);
	assert_false(patience_ended(&patience));
	patience.gone_ns = monotonic_ns();
	raise(SIGUSR1);
	assert_false(patience_ended(&patience));
	patience.gone_ns = monotonic_ns() - LONG_NS - 1;
	raise(SIGUSR1);
	assert_true(patience_ended(&patience));
	close(patience.signal_fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void news_end_a_wait(void **state)
{
	struct patience patience = PATIENCE;
	int pipe_fds[2];
	int64_t begun = monotonic_ns();

	(void)state;
	assert_int_equal(pipe2(pipe_fds, O_NONBLOCK), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	patience.news_fd = pipe_fds[0];
	patience_wait(&patience, begun + LONG_NS);
	assert_true(monotonic_ns() - begun < 60 * NSEC_PER_SEC);
	/* They are taken, so the next wait lasts. */
	begun = monotonic_ns();
	patience_wait(&patience, begun + 30 * NSEC_PER_MSEC);
	assert_true(monotonic_ns() - begun >= 30 * NSEC_PER_MSEC);
	patience_end(&patience);
	patience_wait(&patience, monotonic_ns() + LONG_NS); /* its deadline has come */
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_end_no_deadline),
		cmocka_unit_test(the_deadline_is_set_once),
		cmocka_unit_test(a_pipe_that_hangs_up_is_the_end),
		cmocka_unit_test(a_process_that_ends_is_the_end),
		cmocka_unit_test(one_signal_is_the_end_and_two_end_the_waiting),
		cmocka_unit_test(news_end_a_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
