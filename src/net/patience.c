/* Limits waiting. See patience.h. */
#include "net/patience.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum { PID_LOOK_MS = 250 };

int64_t monotonic_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context);
}

int patience_watch_pid(struct patience *patience, pid_t pid)
{
#ifdef SYS_pidfd_open
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0) {
		patience->end_fd = fd;
		return 0;
	}
	if (errno == ESRCH)
		return -ESRCH;
#endif
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	patience->end_pid = pid;
	return 0;
}

void patience_end(struct patience *patience)
{
	if (patience->deadline_ns == INT64_MAX)
		patience->deadline_ns = monotonic_ns() + patience->grace_ns;
}

size_t patience_fds(const struct patience *patience, struct pollfd ret_fds[PATIENCE_FDS])
{
	size_t count = 0;

	if (patience->end_fd >= 0 && !patience->gone_ns)
		ret_fds[count++] = (struct pollfd){.fd = patience->end_fd, .events = POLLIN};
	if (patience->signal_fd >= 0)
		ret_fds[count++] = (struct pollfd){.fd = patience->signal_fd, .events = POLLIN};
	return count;
}

static bool pid_has_ended(const struct patience *patience)
{
	struct pollfd end = {.fd = patience->end_fd, .events = POLLIN};

	return (patience->end_fd >= 0 && poll(&end, 1, 0) > 0) ||
	       (patience->end_pid && kill(patience->end_pid, 0) < 0 && errno == ESRCH);
}

static void take_end(struct patience *patience)
{
	if (patience->gone_ns || !pid_has_ended(patience))
		return;
	patience->gone_ns = monotonic_ns();
	patience_end(patience);
}

/* Whether a signal that comes now is meant for the job, and only happens to reach this process. */
static bool is_for_job(const struct patience *patience)
{
	return patience->deaf_ns &&
	       (!patience->gone_ns || monotonic_ns() < patience->gone_ns + patience->deaf_ns);
}

/* The first signal is the end. Another one after that ends the waiting. */
static void take_signals(struct patience *patience)
{
	struct signalfd_siginfo signal;

	while (patience->signal_fd >= 0 && read(patience->signal_fd, &signal, sizeof signal) > 0) {
		if (is_for_job(patience))
			continue;
		if (patience->deadline_ns == INT64_MAX)
			patience_end(patience);
		else
			patience->deadline_ns = monotonic_ns();
	}
}

bool patience_ended(struct patience *patience)
{
	take_end(patience);
	take_signals(patience);
	return patience->deadline_ns != INT64_MAX;
}

bool patience_over(struct patience *patience)
{
	return patience_ended(patience) && monotonic_ns() >= patience->deadline_ns;
}

int patience_left_ms(const struct patience *patience, int64_t until_ns)
{
	int64_t now = monotonic_ns(),
		until = until_ns < patience->deadline_ns ? until_ns : patience->deadline_ns;
	int64_t left;

	if (until <= now)
		return 0;
	/* Rounds up, so that the time has come when the wait is over. */
	left = until - now > INT64_C(1000000000000) ? INT_MAX / 2 : (until - now + 999999) / NSEC_PER_MSEC;
	if (patience->end_pid && patience->deadline_ns == INT64_MAX && left > PID_LOOK_MS)
		left = PID_LOOK_MS;
	return (int)left;
}

/* The caller finds out which descriptor it was. */
static bool take_news(const struct patience *patience)
{
	char bytes[4096];
	bool any = false;

	while (patience->news_fd >= 0 && read(patience->news_fd, bytes, sizeof bytes) > 0)
		any = true;
	return any;
}

void patience_wait(struct patience *patience, int64_t until_ns)
{
	bool was_over = patience_ended(patience);

	while (monotonic_ns() < until_ns && !patience_over(patience)) {
		struct pollfd fds[PATIENCE_FDS + 1];
		size_t count = patience_fds(patience, fds);

		if (patience->news_fd >= 0)
			fds[count++] = (struct pollfd){.fd = patience->news_fd, .events = POLLIN};
		poll(fds, count, patience_left_ms(patience, until_ns));
		if (take_news(patience) || (!was_over && patience_ended(patience)))
			return;
	}
}
