/* Holds back signals that writing raises. See held_signals.h. */
#include "sink/held_signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "base/cleanup.h"

static const int RAISED_BY_WRITING[] = {SIGPIPE, SIGXFSZ, SIGTTOU};

struct held_signals hold_signals(void)
{
	struct held_signals held;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigemptyset(&held.untouched);
	for (size_t i = 0; i < ARRAY_SIZE(RAISED_BY_WRITING); i++)
		sigaddset(&wanted, RAISED_BY_WRITING[i]);
	pthread_sigmask(SIG_BLOCK, &wanted, &held.previous);
	/* Only a signal that was blocked before can have been pending before. A thread that blocks SIGTTOU never gets it from writing. */
	if (sigismember(&held.previous, SIGPIPE) || sigismember(&held.previous, SIGXFSZ))
		sigpending(&held.untouched);
	return held;
}

void release_signals(const struct held_signals *held, bool may_have_raised)
{
	static const struct timespec NOW;
	int error = errno;
	sigset_t ours;

	sigemptyset(&ours);
	if (!sigismember(&held->untouched, SIGPIPE))
		sigaddset(&ours, SIGPIPE);
	if (!sigismember(&held->untouched, SIGXFSZ))
		sigaddset(&ours, SIGXFSZ);
	while (may_have_raised && sigtimedwait(&ours, NULL, &NOW) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &held->previous, NULL);
	errno = error;
}
