/*
 * Starting a sister program as a child of this process, which waits for it. A program that must not be our child is
 * started by detached.h.
 */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launch/find_program.h"

struct child_program {
	const struct sister_program *program;
	const char *const *argv;
	char *const *environment; /* NULL: this process's own */
	bool silent;              /* its stdin and stderr are /dev/null */
};

/*
 * Starts it with `stdout_fd` as its standard output and without blocked signals. 0 or a negative errno: -ENOENT when the
 * program is not installed.
 */
int child_start(const struct child_program *child, int stdout_fd, pid_t *ret_pid);

/* Starts it with a pipe as its standard output. `ret_fd` is the end from which to read. */
int child_start_with_pipe(const struct child_program *child, int *ret_fd, pid_t *ret_pid);

/* Waits until it ends, and returns its status as waitpid() does, or 0 if another part of the program has reaped it. */
int child_wait(pid_t pid);

/*
 * Runs the helper program until it ends, which takes about a millisecond: it leaves behind a process that is not our
 * child. Signals are blocked meanwhile, so that none reaches it before it has chosen which to ignore. `actions` give it its
 * descriptors. `ret_status` is 0 if another part of the program has reaped it.
 */
int child_run_helper(const char *const *argv, char *const *environment,
		     const posix_spawn_file_actions_t *actions, int *ret_status);
