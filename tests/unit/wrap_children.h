/* Children for the tests of src/wrap: real processes in a known state. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wrap/state.h"

/* For tests of signals and children, of which an emulator has its own idea. */
#define NEEDS_NO_EMULATOR() \
	do { \
		if (is_emulated()) \
			skip(); \
	} while (0)

/* A child that blocks all signals and sleeps: a signal to it stays pending, but for SIGSTOP, SIGCONT and SIGKILL. */
static inline pid_t start_sleeper(void)
{
	struct peek peek = {0};
	pid_t pid = fork();

	if (pid == 0) {
		mask_signals(SIG_SETMASK, ALL_SIGNALS, NULL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	/* Its mask is set before it sleeps. */
	while (peek_process(pid, &peek) == 0 && peek.state != 'S')
		usleep(100);
	assert_int_equal(peek.state, 'S');
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
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Returns the exit code of a child that runs this. */
static inline int in_child(int (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static inline bool is_pending(pid_t pid, int signo)
{
	struct peek peek = {0};

	assert_int_equal(peek_process(pid, &peek), 0);
	return peek.pending & SIGNAL_BIT(signo);
}
