/*
 * The loop of run.c without a job, for attach and host mode.
 *
 * A pidfd (Linux 5.3) tells when a process ends that is not our child. The loop waits for it together with a
 * signalfd and a timerfd. If one of the three cannot be opened, it looks at the process at intervals instead.
 */
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/min_max.h"
#include "base/wait_child.h"
#include "wrap/peek.h"
#include "wrap/signals.h"
#include "wrap/state.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* How often to look at a target without a pidfd. */
#define LOOK_AT_TARGET_EVERY_NS (100 * NSEC_PER_MSEC)

struct watch {
	struct wrap *wrap;
	const struct wrap_hooks *hooks;
	pid_t target; /* 0: the host, or a target that has exited but need not be waited for */
	int target_fd;
	int signal_fd;
	int timer_fd;
	signal_set honoured;
};

/* A main thread that has exited before the other threads is a zombie, too, but the process goes on. */
static bool target_has_gone(const struct watch *watch)
{
	struct peek peek = {0};

	if (!watch->target)
		return false;
	if (watch->target_fd >= 0) {
		struct pollfd poll_target = {.fd = watch->target_fd, .events = POLLIN};

		return poll(&poll_target, 1, 0) > 0;
	}
	if (kill(watch->target, 0) < 0 && errno == ESRCH)
		return true;
	return peek_process(watch->target, &peek) == 0 && (peek.state == 'Z' || peek.state == 'X') &&
	       peek.threads <= 1;
}

static void close_fds(struct watch *watch)
{
	cleanup_close(&watch->target_fd);
	cleanup_close(&watch->signal_fd);
	cleanup_close(&watch->timer_fd);
	watch->target_fd = watch->signal_fd = watch->timer_fd = -1;
}

/* Opens all three descriptors or none. */
static void open_fds(struct watch *watch)
{
	signal_set taken = signals_blocked(WRAP_WATCH);

	if (!watch->target)
		return;
	watch->target_fd = (int)syscall(SYS_pidfd_open, watch->target, 0);
	if (watch->target_fd < 0)
		return;
	watch->signal_fd = (int)syscall(SYS_signalfd4, -1, &taken, sizeof taken, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->signal_fd < 0 || watch->timer_fd < 0)
		close_fds(watch);
}

static void poll_fds(struct watch *watch, int64_t until_ns)
{
	/* Zero disarms the timer. */
	int64_t alarm_ns = until_ns == INT64_MAX ? 0 : max_i64(1, until_ns);
	struct itimerspec alarm = {.it_value = {alarm_ns / NSEC_PER_SEC, alarm_ns % NSEC_PER_SEC}};
	struct pollfd fds[] = {
		{.fd = watch->target_fd, .events = POLLIN},
		{.fd = watch->signal_fd, .events = POLLIN},
		{.fd = watch->timer_fd, .events = POLLIN},
	};

	timerfd_settime(watch->timer_fd, TFD_TIMER_ABSTIME, &alarm, NULL);
	poll(fds, ARRAY_SIZE(fds), -1);
}

/* Returns the signal that ends the watch, or 0. */
static int wait_for_signal(struct watch *watch, int64_t until_ns)
{
	int64_t timeout_ns = 0;
	siginfo_t info;
	int signo;

	if (watch->target_fd >= 0) {
		poll_fds(watch, until_ns);
	} else {
		int64_t now_ns = monotonic_now_ns();

		if (watch->target)
			until_ns = min_i64(until_ns, now_ns + LOOK_AT_TARGET_EVERY_NS);
		timeout_ns = until_ns == INT64_MAX ? INT64_MAX : max_i64(0, until_ns - now_ns);
	}
	while ((signo = take_signal(signals_blocked(WRAP_WATCH), &info, timeout_ns))) {
		timeout_ns = 0;
		if (SIGNAL_BIT(signo) & watch->honoured)
			return signo;
		/*
		 * If SIGINT was ignored at the start (a background job of a script), Ctrl-C does not count.
		 * kill -INT does.
		 */
		if (signo == SIGINT && info.si_code <= 0)
			return signo;
	}
	return 0;
}

static bool is_ignored(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static signal_set honoured_signals(void)
{
	signal_set honoured = SIGNAL_BIT(SIGTERM);

	if (!is_ignored(SIGINT))
		honoured |= SIGNAL_BIT(SIGINT);
	if (!is_ignored(SIGHUP))
		honoured |= SIGNAL_BIT(SIGHUP);
	return honoured;
}

static enum wrap_watch_end watch_until(struct watch *watch, bool keep_running, int *ret_signo)
{
	const struct wrap_hooks *hooks = watch->hooks;

	for (;;) {
		int64_t deadline_ns = hooks->next_deadline_ns(hooks->context);

		while (wait_child(-1, NULL, WNOHANG, NULL) > 0)
			;
		if (target_has_gone(watch)) {
			if (!keep_running)
				return WRAP_TARGET_EXITED;
			close_fds(watch);
			watch->target = 0;
		}
		if (deadline_ns <= monotonic_now_ns()) {
			hooks->tick(hooks->context);
			if (hooks->done && hooks->done(hooks->context))
				return WRAP_DONE;
			deadline_ns = hooks->next_deadline_ns(hooks->context);
		}
		*ret_signo = wait_for_signal(watch, deadline_ns);
		if (*ret_signo)
			return WRAP_STOPPED;
	}
}

enum wrap_watch_end wrap_watch(struct wrap *wrap, pid_t pid, bool keep_running,
			       const struct wrap_hooks *hooks, int *ret_signo)
{
	struct watch watch = {
		.wrap = wrap,
		.hooks = hooks,
		.target = pid,
		.target_fd = -1,
		.signal_fd = -1,
		.timer_fd = -1,
		.honoured = honoured_signals(),
	};
	enum wrap_watch_end end;

	*ret_signo = 0;
	open_fds(&watch);
	end = watch_until(&watch, keep_running, ret_signo);
	close_fds(&watch);
	return end;
}
