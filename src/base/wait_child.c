/* Waiting for a child. See wait_child.h. */
#include "base/wait_child.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CORE_DUMPED = 0x80 };

static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_KILLED:
		return info->si_status;
	case CLD_DUMPED:
		return info->si_status | CORE_DUMPED;
	default:
		return info->si_status << 8;
	}
}

pid_t wait_child(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
{
	pid_t found = wait4(pid, ret_status, options, ret_usage);
	idtype_t type = pid < 0 ? P_ALL : P_PID;
	siginfo_t info = {0};

	if (found >= 0 || errno == ECHILD || errno == EINTR)
		return found;
	/* The fifth argument is left out by the C libraries. */
	if (syscall(SYS_waitid, type, pid < 0 ? 0 : pid, &info, WEXITED | options, ret_usage) < 0)
		return -1;
	if (info.si_pid && ret_status)
		*ret_status = status_of(&info);
	return info.si_pid;
}
