/* Tests of src/helper/supervisor.c and worker.c, with a kind of work of the test's own. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#include "base/clock.h"
#include "helper/supervisor.h"

enum { REQUEST_BYTES = 8, ANSWER_BYTES = 8 };

/* The work and its traces, shared with the worker. */
struct play {
	_Atomic int fails_to_open; /* so many times */
	_Atomic int hangs;
	_Atomic int passes_left;
	_Atomic int64_t opened_ns[4];
	_Atomic int opened;
	_Atomic int64_t passed_ns[8];
	_Atomic int passed;
	_Atomic size_t request_length;
	struct helper_page page;
	char request[512], answer[512];
};

static struct play *play;
static struct helper_view view;
static int ends[2];
static pid_t supervisor;

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}

static int open_play(const void *setup, void **ret_state)
{
	*ret_state = NULL;
	assert_true(setup == play);
	play->opened_ns[play->opened++ & 3] = now_ns();
	return play->fails_to_open-- > 0 ? -ENODEV : 0;
}

/* Publishes the number of the pass; the second one has no answer, and the third says nothing of a next time. */
static ssize_t pass_play(void *state, const void *request, size_t request_length, void *answer,
			 int64_t *ret_next_ns)
{
	int64_t number = ++play->passed;

	(void)state, (void)request;
	play->request_length = request_length;
	play->passed_ns[number & 7] = now_ns();
	if (play->hangs-- > 0)
		for (;;)
			pause();
	memcpy(answer, &number, sizeof number);
	if (number != 3)
		*ret_next_ns = now_ns() + 20 * NSEC_PER_MSEC;
	if (--play->passes_left <= 0)
		*ret_next_ns = INT64_MAX;
	return number == 2 ? -EIO : (ssize_t)sizeof number;
}

static const struct helper_kind KIND = {
	.name = "play",
	.request_bytes = REQUEST_BYTES,
	.answer_bytes = ANSWER_BYTES,
	.pass_limit_ns = 500 * NSEC_PER_MSEC,
	.open = open_play,
	.pass = pass_play,
};

static int begin(void **state)
{
	(void)state;
	play = mmap(NULL, sizeof *play, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	play->page.recorder_pid = getpid();
	view = (struct helper_view){&play->page, play, latest_at(play->request, REQUEST_BYTES),
				    latest_at(play->answer, ANSWER_BYTES)};
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static int end(void **state)
{
	(void)state;
	close(ends[0]);
	return munmap(play, sizeof *play);
}

static void start(void)
{
	supervisor = fork();
	if (supervisor == 0) {
		alarm(120);
		close(ends[0]);
		_exit(supervise(&view, &KIND, ends[1]));
	}
	close(ends[1]);
}

static void wait_for_its_end(void)
{
	int status;

	assert_int_equal(waitpid(supervisor, &status, 0), supervisor);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int64_t latest_answer(void)
{
	int64_t number = -1;

	assert_int_equal(latest_read(&view.answer, &number, sizeof number, NULL), sizeof number);
	return number;
}

static void passes_follow_each_other_until_there_is_nothing_to_do(void **state)
{
	(void)state;
	play->passes_left = 4;
	assert_int_equal(latest_write(&view.request, "abc", 3, 0), 0);
	start();
	wait_for_its_end();
	assert_int_equal(play->page.ended, 1);
	assert_int_equal(play->page.pass_count, 4);
	assert_int_equal(play->page.failure_count, 0);
	assert_int_equal(play->page.worker_pid, 0);
	assert_int_equal(play->page.pass_began_ns, 0);
	assert_true(play->page.cpu_ns > 0);
	assert_int_equal(play->request_length, 3);
	assert_int_equal(latest_answer(), 4);
	/* The second pass had no answer. */
	assert_int_equal(latest_number(&view.answer), 3);
	assert_true(play->passed_ns[2] - play->passed_ns[1] >= 20 * NSEC_PER_MSEC);
	/* Without a next time, it is a second later. */
	assert_true(play->passed_ns[4] - play->passed_ns[3] >= NSEC_PER_SEC / 2);
}

static void a_failed_worker_is_replaced_after_pauses_that_double(void **state)
{
	(void)state;
	play->fails_to_open = 2;
	play->passes_left = 1;
	start();
	wait_for_its_end();
	assert_int_equal(play->opened, 3);
	assert_int_equal(play->page.failure_count, 2);
	assert_int_equal(play->page.ended, 1);
	assert_int_equal(play->request_length, 0);
	assert_true(play->opened_ns[1] - play->opened_ns[0] >= NSEC_PER_SEC);
	assert_true(play->opened_ns[2] - play->opened_ns[1] >= 2 * NSEC_PER_SEC);
}

static void a_worker_that_hangs_is_killed_and_replaced(void **state)
{
	(void)state;
	play->hangs = 1;
	play->passes_left = 1;
	start();
	wait_for_its_end();
	assert_int_equal(play->opened, 2);
	assert_int_equal(play->page.failure_count, 1);
	assert_int_equal(play->page.ended, 1);
	assert_int_equal(play->page.pass_count, 1);
}

/* The connection ends with the recorder, in the middle of a pass as well. */
static void the_end_of_the_connection_ends_both(void **state)
{
	pid_t worker;

	(void)state;
	/* A worker that the supervisor leaves behind becomes a child of this process. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	play->hangs = 1;
	start();
	/* The worker may pass before its parent has said who it is. */
	while (!play->passed || !play->page.worker_pid)
		nanosleep(&(struct timespec){0, NSEC_PER_MSEC}, NULL);
	worker = (pid_t)play->page.worker_pid;
	assert_true(worker > 1 && kill(worker, 0) == 0);
	shutdown(ends[0], SHUT_WR);
	wait_for_its_end();
	assert_int_equal(play->page.ended, 0);
	assert_true(waitpid(worker, NULL, 0) == worker || errno == ECHILD);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

UNIT_TESTS
{
#define WITH_PLAY(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		WITH_PLAY(passes_follow_each_other_until_there_is_nothing_to_do),
		WITH_PLAY(a_failed_worker_is_replaced_after_pauses_that_double),
		WITH_PLAY(a_worker_that_hangs_is_killed_and_replaced),
		WITH_PLAY(the_end_of_the_connection_ends_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
