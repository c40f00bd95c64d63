/*
 * Jobs that report the time of an event, in CLOCK_MONOTONIC nanoseconds on stdout.
 *
 *   stamp end MILLISECONDS     sleeps, prints the time at which it ends, ends
 *   stamp signal               prints "ready", then the time of each SIGUSR1; ends at SIGTERM
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

static int say_when(int64_t ns)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "%lld\n", (long long)ns);

	return write(STDOUT_FILENO, line, (size_t)length) < 0;
}

static int say_signals(void)
{
	sigset_t signals;
	int signo;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (write(STDOUT_FILENO, "ready\n", 6) < 0)
		return 1;
	while (sigwait(&signals, &signo) == 0 && signo == SIGUSR1)
		if (say_when(clock_ns(CLOCK_MONOTONIC)))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "signal") == 0)
		return say_signals();
	if (argc != 3 || strcmp(argv[1], "end") != 0)
		return 2;
	usleep((useconds_t)atoi(argv[2]) * 1000);
	_exit(say_when(clock_ns(CLOCK_MONOTONIC)));
}
