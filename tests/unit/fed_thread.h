/* The thread of a fed listener runs in the test, step by step, and the clocks are those of the test. */
#pragma once

#include "fed_listener.h"

#include "base/process_room.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- the clocks -------------------------------------------------------------------------------------------------- */

enum { TICK_MSEC = 4 };
#define BEGUN_NS (1000 * NSEC_PER_SEC)

static struct {
	int64_t now_ns;
	int64_t spent_ns; /* CPU time of the thread that asks */
	int64_t pid_ns;   /* of any other process, -1: there is none */
	int pid_looks;
} clocks;

/* This and the next ones stand before the C library's. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int64_t ns = id == CLOCK_THREAD_CPUTIME_ID ? clocks.spent_ns : clocks.now_ns;

	if (id < 0) {
		clocks.pid_looks++;
		ns = clocks.pid_ns;
	}
	if (ns < 0) {
		errno = ESRCH;
		return -1;
	}
	*ret_time = (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC),
				      .tv_nsec = (long)(ns % NSEC_PER_SEC)};
	return 0;
}

int clock_getres(clockid_t id, struct timespec *ret_time)
{
	assert_int_equal(id, CLOCK_MONOTONIC_COARSE);
	*ret_time = (struct timespec){.tv_nsec = TICK_MSEC * NSEC_PER_MSEC};
	return 0;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

enum { STEPS_MOST = 16 };

/* Before a round of the thread, so much time has gone by and was spent, and the test does something. */
struct step {
	int64_t elapsed_ns, spent_ns;
	void (*does)(void);
};

struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct {
	void *(*begin)(void *);
	void *context;
	int error;       /* instead of the thread */
	bool is_no_room; /* for more processes */
	int joined;
	size_t stack_bytes;
	bool is_interruptible;
	const struct step *steps;
	int step_count, round;
	bool is_called; /* in its naps */
	int naps_msec[STEPS_MOST], waits_msec[STEPS_MOST];
	int call_fd, events_fd[STEPS_MOST];
	uint32_t policy;
	int slice_error;
	struct scheduling asked;
} thread;

bool has_room_for_processes(bool has_own_proc)
{
	assert_true(has_own_proc);
	return !thread.is_no_room;
}

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*thread_begin)(void *),
		   void *context)
{
	sigset_t blocked;

	assert_int_equal(pthread_attr_getstacksize(attributes, &thread.stack_bytes), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	thread.is_interruptible = !sigismember(&blocked, SIGCHLD) || !sigismember(&blocked, SIGTERM);
	thread.begin = thread_begin;
	thread.context = context;
	*ret_thread = pthread_self();
	return thread.error;
}

int pthread_join(pthread_t joined, void **ret_value)
{
	(void)joined;
	(void)ret_value;
	thread.joined++;
	return 0;
}

long syscall(long number, ...)
{
	va_list arguments;
	struct scheduling *scheduling;
	bool sets = number == SYS_sched_setattr;
	unsigned size = sizeof *scheduling, flags;

	/* unit.c asks for signals of libc, before any test. */
	if (number == SYS_rt_sigaction)
		return -1;
	va_start(arguments, number);
	assert_true(sets || number == SYS_sched_getattr);
	assert_int_equal(va_arg(arguments, int), 0);
	scheduling = va_arg(arguments, struct scheduling *);
	if (!sets)
		size = (unsigned)va_arg(arguments, size_t);
	flags = va_arg(arguments, unsigned);
	va_end(arguments);
	assert_int_equal(size, sizeof *scheduling);
	assert_int_equal(flags, 0);
	if (sets)
		thread.asked = *scheduling;
	else
		*scheduling =
			(struct scheduling){.size = sizeof *scheduling, .policy = thread.policy, .nice = 5};
	errno = ENOSYS;
	return sets ? 0 : thread.slice_error;
}

static void take_step(void)
{
	const struct step *step = &thread.steps[thread.round];

	if (thread.round == thread.step_count) {
		program_listener_finish(listener);
		return;
	}
	clocks.now_ns = BEGUN_NS + step->elapsed_ns;
	if (step->does)
		step->does();
	clocks.spent_ns = step->spent_ns;
}

int poll(struct pollfd *ready, nfds_t count, int msec)
{
	assert_true(count == 1 || count == 2);
	for (nfds_t i = 0; i < count; i++)
		assert_int_equal(ready[i].events, POLLIN);
	thread.call_fd = ready[0].fd;
	if (count == 1) {
		assert_true(msec > 0);
		thread.naps_msec[thread.round] = msec;
		thread.events_fd[thread.round] = -2;
		if (!thread.is_called)
			return 0;
	} else {
		thread.waits_msec[thread.round] = msec;
		thread.events_fd[thread.round] = ready[1].fd;
	}
	thread.round++;
	take_step();
	return count == 1;
}

static void start_thread(void)
{
	assert_int_equal(program_listener_hear(listener, true), 0);
	assert_true(program_listener_runs(listener));
}

/* Ends when each step was followed by a round. */
static void run_steps(const struct step *steps, int count)
{
	assert_true(count < STEPS_MOST);
	thread.steps = steps;
	thread.step_count = count;
	take_step();
	assert_null(thread.begin(thread.context));
	assert_int_equal(thread.round, count);
}

static int begin_thread(void **state)
{
	memset(&thread, 0, sizeof thread);
	memset(&clocks, 0, sizeof clocks);
	clocks.now_ns = BEGUN_NS;
	clocks.pid_ns = -1;
	return begin(state);
}
