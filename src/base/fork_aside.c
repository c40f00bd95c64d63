/* Forks a process that may be left behind. See fork_aside.h. */
#include "base/fork_aside.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/close_descriptors.h"

pid_t fork_aside(int kept_fd, int also_fd)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return pid;
	}
	prctl(PR_SET_NAME, "rt-aside");
	setsid();
	close_descriptors(0, kept_fd, also_fd);
	return 0;
}
