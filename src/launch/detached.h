/*
 * Starting a program of the house so that it is nobody's child: no zombie and no status that the caller's own wait()
 * could trip over. It is in a session of its own, so that no signal of a terminal meets it, and has no descriptor of
 * the caller's: its standard streams are one end of a connection, the other is the caller's.
 *
 * The helper program starts it and ends (`resource-tracker-helper exec`): a fork in the caller would copy what may be
 * huge. Only a caller that is a subreaper (as the command is) or PID 1 gets it for a child: detached_reap().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct detached {
	const char *program;
	const char *const *argv;
	char *const *environment; /* NULL: this process' */
	bool silent;              /* its stderr is /dev/null, not the connection */
};

/*
 * 0, the socket and the program's pid; or a negative errno: -ENOENT when the program or the helper is not installed.
 * Takes about a millisecond; the program may take longer to begin.
 */
int detached_start(const struct detached *detached, int *ret_socket, pid_t *ret_pid);

/* Whether what was nobody's child becomes ours when it ends: this process is PID 1 or a subreaper. */
bool adopts_orphans(void);

/* Takes the status of one that has ended, where it would be our zombie; never waits. */
void detached_reap(pid_t pid);
