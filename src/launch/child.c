/* Starts a sister program as a child. See child.h. */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wait_child.h"

extern char **environ;

/* posix_spawn(), because the caller may be large and have threads. `environment` NULL: this process's own. */
static int spawn_program(const char *path, const char *const *argv, char *const *environment,
			 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
			 pid_t *ret_pid)
{
	return -posix_spawn(ret_pid, path, actions, attributes, (char *const *)(uintptr_t)argv,
			    environment ? environment : environ);
}

static int add_standard_streams(posix_spawn_file_actions_t *actions, bool silent, int stdout_fd)
{
	int error = posix_spawn_file_actions_adddup2(actions, stdout_fd, STDOUT_FILENO);

	if (!error && silent)
		error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error && silent)
		error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	return -error;
}

static int set_no_blocked_signals(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	error = posix_spawnattr_setsigmask(attributes, &none);
	return error ? -error : -posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

int child_start(const struct child_program *child, int stdout_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char path[PATH_MAX];
	int error = find_sister_program(child->program, path);

	if (error < 0)
		return error;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	error = add_standard_streams(&actions, child->silent, stdout_fd);
	if (!error)
		error = set_no_blocked_signals(&attributes);
	if (!error)
		error = spawn_program(path, child->argv, child->environment, &actions, &attributes, ret_pid);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int child_start_with_pipe(const struct child_program *child, int *ret_fd, pid_t *ret_pid)
{
	CLEANUP_CLOSE int ours = -1, theirs = -1;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	error = child_start(child, theirs, ret_pid);
	if (!error)
		*ret_fd = take_fd(&ours);
	return error;
}

int child_wait(pid_t pid)
{
	int status = 0;

	/* Where SIGCHLD is ignored there is nothing to wait for: ECHILD. */
	while (wait_child(pid, &status, 0, NULL) < 0) {
		if (errno != EINTR)
			return 0;
	}
	return status;
}

int child_run_helper(const char *const *argv, char *const *environment,
		     const posix_spawn_file_actions_t *actions, int *ret_status)
{
	char path[PATH_MAX];
	sigset_t all, before;
	pid_t pid;
	int error = find_sister_program(&HELPER_PROGRAM, path);

	if (error < 0)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = spawn_program(path, argv, environment, actions, NULL, &pid);
	if (!error)
		*ret_status = child_wait(pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
