/* Children for the tests of src/wrap: real processes in a known state. */
#pragma once

#include "in_child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "wrap/peek.h"
#include "wrap/state.h"

/* For tests of signals and children, of which an emulator has its own idea. */
#define NEEDS_NO_EMULATOR() \
	do { \
		if (is_emulated()) \
			skip(); \
	} while (0)

static inline void wait_for_state(pid_t pid, char state)
{
	struct peek peek = {0};

	while (peek_process(pid, &peek) == 0 && peek.state != state)
		usleep(100);
	assert_int_equal(peek.state, state);
}

static inline void *sleep_for_ever(void *none)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return none;
}

/* A child that blocks all signals and sleeps: a signal to it stays pending, but for SIGSTOP, SIGCONT and SIGKILL. */
static inline pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		mask_signals(SIG_SETMASK, ALL_SIGNALS, NULL);
		sleep_for_ever(NULL);
	}
	assert_true(pid > 0);
	/* Its mask is set before it sleeps. */
	wait_for_state(pid, 'S');
	return pid;
}

/* A child whose main thread has exited, so that /proc shows a zombie, while another thread goes on. */
static inline pid_t start_without_main_thread(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0)
			syscall(SYS_exit, 0);
		_exit(1);
	}
	assert_true(pid > 0);
	wait_for_state(pid, 'Z');
	return pid;
}

static inline void stop_child(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static inline void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Makes the kernel refuse a system call from now on, as containers do. For a child of the test. */
static inline bool refuse_call(long number)
{
	return fail_call(number, EPERM);
}

static inline bool is_pending(pid_t pid, int signo)
{
	struct peek peek = {0};

	assert_int_equal(peek_process(pid, &peek), 0);
	return peek.pending & SIGNAL_BIT(signo);
}
