/* The listener has no thread until the job forks or the caller asks for one. */
#include "unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_room.h"
#include "job/programs/program_listener.h"

/* A sanitizer may have one of its own. */
static size_t threads_before;

static size_t count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(tasks);
	while ((entry = readdir(tasks)))
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

/* A job: forks a process for each byte that it reads, until the pipe is closed. */
static pid_t start_job(int *ret_orders)
{
	int orders[2];
	pid_t pid;
	char order;

	assert_int_equal(pipe(orders), 0);
	pid = fork();
	if (pid) {
		close(orders[0]);
		*ret_orders = orders[1];
		return pid;
	}
	close(orders[1]);
	while (read(orders[0], &order, 1) == 1) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		(void)waitpid(child, NULL, 0);
	}
	_exit(0);
}

static struct program_listener *open_listener(pid_t job)
{
	struct program_listener *listener = NULL;

	threads_before = count_threads();
	if (!has_room_for_processes(true) || program_listener_open(&listener) < 0)
		skip();
	program_listener_add(listener, job, NULL);
	assert_int_equal(program_listener_start(listener, true), 0);
	assert_int_equal(count_threads(), threads_before);
	return listener;
}

static size_t take_exits(struct program_listener *listener)
{
	const struct program_event *events;
	size_t count, exits = 0;
	bool lost;

	events = program_listener_take(listener, &count, &lost);
	assert_false(lost);
	for (size_t i = 0; i < count; i++)
		exits += events[i].kind == PROGRAM_EXITED;
	return exits;
}

static void end_job(pid_t job, int orders)
{
	close(orders);
	assert_int_equal(waitpid(job, NULL, 0), job);
}

static void test_a_job_that_ends_at_once_is_heard_without_a_thread(void **state)
{
	const struct program_event *event;
	struct program_listener *listener;
	siginfo_t info;
	size_t count;
	bool lost;
	int orders;
	pid_t job = start_job(&orders);

	(void)state;
	listener = open_listener(job);
	close(orders);
	assert_int_equal(waitid(P_PID, (id_t)job, &info, WEXITED | WNOWAIT), 0);
	program_listener_catch_up(listener);
	assert_int_equal(waitpid(job, NULL, 0), job);
	program_listener_finish(listener);
	assert_int_equal(count_threads(), threads_before);
	/* Its time and its name were read before it was reaped. */
	event = program_listener_take(listener, &count, &lost);
	assert_int_equal(count, 1);
	assert_int_equal(event->kind, PROGRAM_EXITED);
	assert_true(event->clock_ns > 0);
	assert_non_null(event->before);
	assert_int_equal(program_listener_exits(listener), 1);
	program_listener_close(listener);
}

static void test_the_first_fork_starts_the_thread(void **state)
{
	struct program_listener *listener;
	sigset_t child;
	int orders, signo;
	pid_t job;

	(void)state;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	job = start_job(&orders);
	listener = open_listener(job);
	assert_int_equal(write(orders, "1", 1), 1);
	/* Only the event of the fork can send SIGCHLD: the job goes on. */
	while (count_threads() == threads_before) {
		assert_int_equal(sigwait(&child, &signo), 0);
		assert_int_equal(program_listener_hear(listener, false), 0);
	}
	assert_int_equal(write(orders, "2", 1), 1);
	end_job(job, orders);
	program_listener_finish(listener);
	assert_int_equal(take_exits(listener), 3);
	assert_int_equal(program_listener_exits(listener), 3);
	program_listener_close(listener);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
}

/* The kernel sends the event of an exit after the parent can wait for it, so the last take may be too early. */
static void test_the_last_take_tells_exits_that_no_event_has_told(void **state)
{
	struct program_listener *listener;
	int orders;
	pid_t job = start_job(&orders), gone = fork();

	(void)state;
	if (!gone)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	listener = open_listener(job);
	program_listener_add(listener, gone, NULL);
	assert_int_equal(take_exits(listener), 0);
	program_listener_finish(listener);
	assert_int_equal(take_exits(listener), 1);
	assert_int_equal(program_listener_exits(listener), 1);
	end_job(job, orders);
	program_listener_close(listener);
}

/* A pass read the child while it lived, and its end was heard before that pass came to the listener. */
static void test_the_listener_leaves_out_an_ended_process(void **state)
{
	struct program_listener *listener;
	pid_t job = getpid(), child;

	(void)state;
	listener = open_listener(job);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* The event of an exit comes after its parent may wait for it. */
	for (int i = 0; i < 1000 && program_listener_exits(listener) == 0; i++) {
		program_listener_catch_up(listener);
		usleep(1000);
	}
	program_listener_add(listener, child, NULL);
	program_listener_finish(listener);
	(void)take_exits(listener);
	assert_int_equal(program_listener_exits(listener), 1);
	/* If a pass sees other threads of it, its end counts later. */
	program_listener_add_again(listener, child, NULL);
	assert_int_equal(program_listener_exits(listener), 0);
	assert_true(program_listener_remove(listener, child));
	assert_int_equal(program_listener_exits(listener), 1);
	program_listener_close(listener);
}

static void test_the_caller_can_ask_for_the_thread(void **state)
{
	struct program_listener *listener;
	int orders;
	pid_t job = start_job(&orders);

	(void)state;
	listener = open_listener(job);
	assert_int_equal(program_listener_hear(listener, true), 0);
	assert_int_equal(count_threads(), threads_before + 1);
	end_job(job, orders);
	program_listener_finish(listener);
	assert_int_equal(take_exits(listener), 1);
	program_listener_close(listener);
}

static bool is_among(const pid_t *pids, ssize_t count, pid_t pid)
{
	for (ssize_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* A pass need not look for new processes in another way then. */
static void test_forks_are_complete_after_two_takes_without_a_loss(void **state)
{
	enum { PIDS_MOST = 64, ROUNDS_OF_5_MSEC = 400 };
	pid_t pids[PIDS_MOST], job, foreign;
	struct program_listener *listener;
	ssize_t count = 0;
	int orders;

	(void)state;
	job = start_job(&orders);
	listener = open_listener(job);
	assert_int_equal(program_listener_forked(listener, pids, PIDS_MOST), -1);
	take_exits(listener);
	assert_int_equal(program_listener_forked(listener, pids, PIDS_MOST), -1);
	take_exits(listener);
	foreign = fork();
	if (!foreign)
		_exit(0);
	assert_int_equal(program_listener_forked(listener, pids, PIDS_MOST), 1);
	assert_int_equal(pids[0], job);
	assert_int_equal(write(orders, "x", 1), 1);
	for (int i = 0; count < 2 && i < ROUNDS_OF_5_MSEC; i++) {
		usleep(5000);
		count = program_listener_forked(listener, pids, PIDS_MOST);
	}
	assert_true(count >= 2);
	assert_true(is_among(pids, count, job));
	assert_false(is_among(pids, count, foreign));
	/* There may be more than there is room for. */
	assert_int_equal(program_listener_forked(listener, pids, 1), -1);
	(void)waitpid(foreign, NULL, 0);
	end_job(job, orders);
	program_listener_close(listener);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_that_ends_at_once_is_heard_without_a_thread),
		cmocka_unit_test(test_the_first_fork_starts_the_thread),
		cmocka_unit_test(test_the_last_take_tells_exits_that_no_event_has_told),
		cmocka_unit_test(test_forks_are_complete_after_two_takes_without_a_loss),
		cmocka_unit_test(test_the_caller_can_ask_for_the_thread),
		cmocka_unit_test(test_the_listener_leaves_out_an_ended_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
