/*
 * Preloaded into the programs of a job, lets a meter look at each child before its parent reaps it. A tracer would stop each
 * process at a fork or an exec, and the parent has little to do after its wait: LD_PRELOAD=.../reap_meter.so REAP_METER=SOCKET.
 *
 * It sends a child's pid and that of its parent as text to the meter (bench/programs), and goes on when the meter has answered.
 * The meter does not hear of children that a statically linked program reaps, or the C library itself (system(3)).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void show_child(pid_t pid)
{
	const char *path = getenv("REAP_METER");
	struct sockaddr_un meter = {.sun_family = AF_UNIX};
	char text[64];
	int fd, length = snprintf(text, sizeof text, "%d %d", (int)pid, (int)getpid());

	if (!path || strlen(path) >= sizeof meter.sun_path)
		return;
	memcpy(meter.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&meter, sizeof meter) == 0 &&
	    send(fd, text, (size_t)length, MSG_NOSIGNAL) == length)
		/* Another child may end meanwhile, and interrupt the read. */
		while (read(fd, text, sizeof text) < 0 && errno == EINTR)
			;
	close(fd);
}

#pragma GCC visibility push(default)

/* Waits as wait4(2) would, but leaves the child a zombie until the meter has seen it. */
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	idtype_t type = pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
	id_t id = pid > 0 ? (id_t)pid : pid == -1 ? 0 : pid == 0 ? (id_t)getpgrp() : (id_t)-pid;
	int wanted = WEXITED | WNOWAIT | options;
	siginfo_t info = {0};

	if (syscall(SYS_waitid, type, id, &info, wanted, NULL) == 0 && info.si_pid &&
	    (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)) {
		show_child(info.si_pid);
		pid = info.si_pid;
	} else if (!info.si_pid) {
		/* An error, a signal, or nothing yet: the same answer as wait4(2) gives. */
		options |= WNOHANG;
		if (!(wanted & WNOHANG))
			return -1;
	}
	return (pid_t)syscall(SYS_wait4, pid, status, options, usage);
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

#pragma GCC visibility pop
