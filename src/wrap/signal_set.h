/*
 * Sets of signals as the kernel has them, one bit each.
 *
 * The C library uses two or three real-time signals itself and hides them: its functions shift or refuse
 * them. To forward every signal, all 64 must be visible.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

typedef uint64_t signal_set;

enum {
	FIRST_REAL_TIME = 34, /* 32 and 33 are used by the C library's threads */
	LAST_SIGNAL = 64,
};

#define SIGNAL_BIT(signo) (UINT64_C(1) << ((signo)-1))
#define ALL_SIGNALS UINT64_MAX
#define REAL_TIME_SIGNALS (ALL_SIGNALS << (FIRST_REAL_TIME - 1))
#define KEYBOARD_STOPS (SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))

/*
 * The signals to forward: all that can be caught, except SIGCHLD and SIGCONT (handled by the tracker), the
 * signals that the tracker ignores, and faults (SIGSEGV and its like, which must end the process that caused
 * them).
 */
#define FORWARDED_SIGNALS \
	(REAL_TIME_SIGNALS | KEYBOARD_STOPS | SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | \
	 SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGABRT) | SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2) | \
	 SIGNAL_BIT(SIGALRM) | SIGNAL_BIT(SIGTERM) | SIGNAL_BIT(SIGSTKFLT) | SIGNAL_BIT(SIGURG) | \
	 SIGNAL_BIT(SIGXCPU) | SIGNAL_BIT(SIGVTALRM) | SIGNAL_BIT(SIGPROF) | SIGNAL_BIT(SIGWINCH) | \
	 SIGNAL_BIT(SIGIO) | SIGNAL_BIT(SIGPWR))

static inline void mask_signals(int how, signal_set set, signal_set *ret_before)
{
	syscall(SYS_rt_sigprocmask, how, &set, ret_before, sizeof set);
}

/*
 * Takes one pending signal of `set`, waiting up to timeout_ns for it (INT64_MAX: without limit). Returns its
 * number, or 0 if none came or a stop and continue cut the wait short.
 */
static inline int take_signal(signal_set set, siginfo_t *ret_info, int64_t timeout_ns)
{
	struct timespec timeout = {timeout_ns / NSEC_PER_SEC, timeout_ns % NSEC_PER_SEC};
	long signo = syscall(SYS_rt_sigtimedwait, &set, ret_info, timeout_ns == INT64_MAX ? NULL : &timeout,
			     sizeof set);

	return signo > 0 ? (int)signo : 0;
}

static inline int64_t monotonic_now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}
