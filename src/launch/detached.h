/*
 * Starts a sister program that is not our child: the caller's own wait() never meets its status, and it leaves no
 * zombie. It runs in a session of its own, so that a terminal's signals do not reach it. It gets no descriptor of
 * the caller except one end of a connection, which is its standard streams. The caller has the other end.
 *
 * The helper program starts it and exits (`resource-tracker-helper exec`): a fork in the caller would copy a
 * possibly huge address space. The program becomes a child of the caller only if the caller is a subreaper (as the
 * command is) or PID 1. See detached_reap().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "launch/find_program.h"

struct detached {
	const struct sister_program *program;
	const char *const *argv;
	char *const *environment; /* NULL: this process's */
	bool silent;              /* its stderr is /dev/null instead of the connection */
};

/*
 * Returns 0, the socket and the program's pid, or a negative errno; -ENOENT: the program or the helper is not
 * installed. Takes about a millisecond. The program may begin later.
 */
int detached_start(const struct detached *detached, int *ret_socket, pid_t *ret_pid);

/* Whether orphans become children of this process: it is PID 1 or a subreaper. */
bool adopts_orphans(void);

/* Reaps the program after it has exited, if it would be our zombie. Never waits. */
void detached_reap(pid_t pid);
