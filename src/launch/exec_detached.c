/* Starts a program whose parent exits at once. See exec_detached.h. */
#include "launch/exec_detached.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/close_descriptors.h"

static void become_detached(char **argv, int error_fd)
{
	sigset_t none;

	setsid();
	/* As in helper_main.c: a stopped program is continued, so that it notices the recorder's exit. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	close_descriptors(STDERR_FILENO + 1, error_fd, -1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Write the pid before the program can write to the same connection. */
	dprintf(STDOUT_FILENO, "%d\n", (int)getpid());
	execv(argv[0], argv + 1);
	(void)!write(error_fd, &errno, sizeof(errno));
	_exit(127);
}

int exec_detached(char **argv)
{
	int fds[2], error = 0;
	pid_t pid;

	if (!argv[0] || !argv[1])
		return EINVAL;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid < 0)
		return errno;
	if (pid == 0)
		become_detached(argv, fds[1]);
	close(fds[1]);
	/* Nothing can be read if exec succeeded, because that closed the other end. */
	if (read(fds[0], &error, sizeof(error)) == sizeof(error))
		return error;
	return 0;
}
