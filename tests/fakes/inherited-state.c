/*
 * Prints the state that a process inherits, one "key value" line each, to compare a wrapped run with a bare
 * one. The reader skips the kernel's figures of memory and ids.
 *
 *   inherited-state [WAIT_MS]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/scan.h"

extern char **environ;

enum { DESCRIPTORS = 256 };

static void print_file(const char *path, const char *key)
{
	char text[8192];
	FILE *file = fopen(path, "re");

	while (file && fread(text, 1, 1, file) == 1) {
		size_t length = 1 + fread(text + 1, 1, sizeof text - 1, file);
		struct scan rest = scan_bytes(text, length), line;

		while (scan_line(&rest, &line))
			printf("%s %.*s\n", key, (int)scan_left(&line), line.at);
	}
	if (file)
		fclose(file);
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		char path[32], target[512];
		ssize_t length;

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof target - 1);
		target[length > 0 ? length : 0] = '\0';
		printf("fd %d flags %o descriptor %d %s\n", fd, (unsigned)fcntl(fd, F_GETFL),
		       fcntl(fd, F_GETFD), target);
	}
}

static void print_dispositions(void)
{
	for (int signo = 1; signo <= 64; signo++) {
		struct sigaction action;

		if (sigaction(signo, NULL, &action) == 0)
			printf("disposition %d %s\n", signo,
			       action.sa_handler == SIG_IGN ? "ignored" : "default");
	}
}

static void print_process_settings(void)
{
	int value = 0;

	prctl(PR_GET_PDEATHSIG, &value);
	printf("death_signal %d\n", value);
	prctl(PR_GET_CHILD_SUBREAPER, &value);
	printf("subreaper %d\n", value);
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
	printf("timer_slack %d\n", prctl(PR_GET_TIMERSLACK));
	printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
	printf("group_is_own %d session_is_own %d\n", getpgrp() == getpid(), getsid(0) == getpid());
}

static void print_timers(void)
{
	for (int i = 0; i < 3; i++) {
		struct itimerval timer = {0};

		syscall(SYS_getitimer, i, &timer);
		printf("timer %d left_ms %lld every_ms %lld\n", i,
		       (long long)timer.it_value.tv_sec * 1000 + timer.it_value.tv_usec / 1000,
		       (long long)timer.it_interval.tv_sec * 1000 + timer.it_interval.tv_usec / 1000);
	}
}

int main(int argc, char **argv)
{
	char cwd[512];

	print_descriptors();
	if (argc > 1) {
		struct scan text = scan_bytes(argv[1], strlen(argv[1]));
		int64_t wait_ms = 0;

		(void)scan_i64(&text, &wait_ms);
		usleep((useconds_t)wait_ms * 1000);
	}
	print_dispositions();
	print_process_settings();
	print_timers();
	print_file("/proc/self/status", "status");
	print_file("/proc/self/limits", "limit");
	print_file("/proc/self/oom_score_adj", "oom_score_adj");
	print_file("/proc/self/cgroup", "cgroup");
	printf("cwd %s\n", getcwd(cwd, sizeof cwd));
	for (int i = 0; i < argc; i++)
		printf("argument %d %s\n", i, argv[i]);
	for (char **variable = environ; *variable; variable++)
		printf("environment %s\n", *variable);
	fflush(stdout);
	return 0;
}
