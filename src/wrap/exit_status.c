/* Ending as the job ended. See wrap.h. */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "wrap/state.h"

enum {
	SIGNAL_STATUS = 128,
};

int wrap_exit_code(const struct wrap_end *end)
{
	return WIFSIGNALED(end->status) ? SIGNAL_STATUS + WTERMSIG(end->status) : WEXITSTATUS(end->status);
}

static void die_of(int signo)
{
	static const struct rlimit NO_CORE;
	struct sigaction die = {.sa_handler = SIG_DFL};

	/*
	 * A core limit of 0 does not stop a core that the kernel pipes to a handler. Being undumpable does.
	 */
	setrlimit(RLIMIT_CORE, &NO_CORE);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(signo, &die, NULL);
	kill(getpid(), signo);
	mask_signals(SIG_UNBLOCK, SIGNAL_BIT(signo), NULL);
}

void wrap_exit(struct wrap *wrap, const struct wrap_end *end)
{
	wrap_finish(wrap);
	if (WIFSIGNALED(end->status))
		die_of(WTERMSIG(end->status));
	exit(wrap_exit_code(end));
}
