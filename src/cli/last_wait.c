/* The signals that cut the end of a run short, and the wait for a program. See last_wait.h. */
#include "cli/last_wait.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/wait_child.h"

enum { LAST_LOOKS = 10 };
#define LOOK_EVERY_NS (20 * NSEC_PER_MSEC)

static sigset_t going_signals(void)
{
	static const int SIGNALS[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(SIGNALS); i++) {
		struct sigaction action;

		/* A blocked signal can be pending even if it is ignored (nohup): leave ignored ones out. */
		if (sigaction(SIGNALS[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, SIGNALS[i]);
	}
	return set;
}

bool is_told_to_go(void)
{
	sigset_t going = going_signals(), pending;

	if (sigpending(&pending) < 0)
		return false;
	for (int signo = SIGHUP; signo <= SIGTERM; signo++)
		if (sigismember(&going, signo) == 1 && sigismember(&pending, signo) == 1)
			return true;
	return false;
}

void forget_signals(void)
{
	sigset_t going = going_signals();

	while (sigtimedwait(&going, NULL, &(struct timespec){0}) > 0)
		continue;
}

static void wait_a_moment(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = LOOK_EVERY_NS});
}

static int64_t cpu_ns_of(pid_t pid)
{
	struct timespec now;

	/* The process CPU clock of `pid`, as clock_getcpuclockid(3) computes it. */
	if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &now) < 0)
		return -1;
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

bool wait_while_it_works(pid_t pid, int64_t still_limit_ns, int *ret_status)
{
	int64_t cpu_ns = -1, still_ns = 0;

	/* Count the looks, not the time: if the whole process group is stopped, this loop stops as well. */
	while (still_ns < still_limit_ns && !is_told_to_go()) {
		int64_t cpu_now_ns;

		if (wait_child(pid, ret_status, WNOHANG, NULL) != 0)
			return true;
		wait_a_moment();
		cpu_now_ns = cpu_ns_of(pid);
		still_ns = cpu_now_ns == cpu_ns ? still_ns + LOOK_EVERY_NS : 0;
		cpu_ns = cpu_now_ns;
	}
	return wait_child(pid, ret_status, WNOHANG, NULL) != 0;
}

void end_without_progress(pid_t pid)
{
	kill(pid, SIGKILL);
	for (int i = 0; i < LAST_LOOKS && wait_child(pid, NULL, WNOHANG, NULL) == 0; i++)
		wait_a_moment();
}
