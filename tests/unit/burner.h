/* Child processes that have used a known CPU time, for tests with real processes. */
#pragma once

#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* A child that a failed test leaves behind ends by itself: meson waits for all that hold its pipe. */
static inline pid_t fork_for_a_minute(void)
{
	pid_t pid = fork();

	if (pid == 0)
		alarm(60);
	return pid;
}

static inline int64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline void burner_do_nothing(int signal)
{
	(void)signal;
}

/* Returns when the child has used `burn_ns`. From then on it sleeps, except for a moment at each SIGUSR1. */
static inline pid_t start_burner(int64_t burn_ns)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork_for_a_minute();
	if (pid == 0) {
		signal(SIGUSR1, burner_do_nothing);
		while (own_cpu_ns() < burn_ns)
			continue;
		if (write(fds[1], "r", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

/* For a child that has said that it is ready: until it sleeps, it may still run, and touch pages. */
static inline void wait_until_asleep(pid_t pid)
{
	char path[64], text[512];
	const char *state = NULL;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	while (!state || state[2] != 'S') {
		FILE *file = fopen(path, "re");

		assert_non_null(file);
		assert_non_null(fgets(text, sizeof text, file));
		fclose(file);
		state = strrchr(text, ')');
		assert_non_null(state);
	}
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
