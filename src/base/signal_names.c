/* The names of signals. See signal_names.h. */
#include "base/signal_names.h"

#include <signal.h>
#include <stdio.h>

#include "base/cleanup.h"

#define NAME(signal) [signal] = #signal

static const char *const NAMES[] = {
	NAME(SIGHUP),    NAME(SIGINT),  NAME(SIGQUIT),  NAME(SIGILL),  NAME(SIGTRAP), NAME(SIGABRT),
	NAME(SIGBUS),    NAME(SIGFPE),  NAME(SIGKILL),  NAME(SIGUSR1), NAME(SIGSEGV), NAME(SIGUSR2),
	NAME(SIGPIPE),   NAME(SIGALRM), NAME(SIGTERM),  NAME(SIGCHLD), NAME(SIGCONT), NAME(SIGSTOP),
	NAME(SIGTSTP),   NAME(SIGTTIN), NAME(SIGTTOU),  NAME(SIGURG),  NAME(SIGXCPU), NAME(SIGXFSZ),
	NAME(SIGVTALRM), NAME(SIGPROF), NAME(SIGWINCH), NAME(SIGIO),   NAME(SIGPWR),  NAME(SIGSYS),
#ifdef SIGSTKFLT
	NAME(SIGSTKFLT),
#endif
};

const char *signal_name(int number, char ret_name[SIGNAL_NAME_SIZE])
{
	if (number > 0 && (size_t)number < ARRAY_SIZE(NAMES) && NAMES[number])
		snprintf(ret_name, SIGNAL_NAME_SIZE, "%s", NAMES[number]);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		snprintf(ret_name, SIGNAL_NAME_SIZE, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(ret_name, SIGNAL_NAME_SIZE, "signal %d", number);
	return ret_name;
}
