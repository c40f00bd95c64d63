/*
 * A job that prints every signal it gets: "signal SIGNO code CODE pid PID value VALUE ns MONOTONIC_NS".
 * It prints "ready PID" first. It ends when its standard input does, or when its reader has gone: every line
 * would bring another SIGPIPE to report.
 *
 *   signal-log [own-group | own-session]
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* All bits: the C library's sigfillset() leaves out the real-time signals that it uses itself. */
static const uint64_t all_signals = UINT64_MAX;

/* Returns false if the reader has gone. */
static bool print_signals(int fd)
{
	struct signalfd_siginfo info;
	struct timespec now;

	while (read(fd, &info, sizeof info) == sizeof info) {
		char line[160];
		int length;

		clock_gettime(CLOCK_MONOTONIC, &now);
		length = snprintf(line, sizeof line, "signal %u code %d pid %u value %d ns %lld\n",
				  info.ssi_signo, info.ssi_code, info.ssi_pid, info.ssi_int,
				  (long long)now.tv_sec * 1000000000 + now.tv_nsec);
		if (write(STDOUT_FILENO, line, (size_t)length) < 0 && errno == EPIPE)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO}, {.events = POLLIN}};

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_signals, NULL, sizeof all_signals);
	if (argc > 1 && strcmp(argv[1], "own-group") == 0)
		setpgid(0, 0);
	if (argc > 1 && strcmp(argv[1], "own-session") == 0)
		setsid();
	fds[1].fd =
		(int)syscall(SYS_signalfd4, -1, &all_signals, sizeof all_signals, SFD_NONBLOCK | SFD_CLOEXEC);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	do
		poll(fds, 2, -1);
	while (print_signals(fds[1].fd) && !(fds[0].revents & POLLHUP));
	/* A leak sanitiser's search at exit needs signals, and would wait for them forever. */
	_exit(0);
}
