/*
 * The floor: the cost of reading alone, without parsing, summing or writing.
 *
 *   floor ROUNDS            ns of one host sample: pread of stat, meminfo, diskstats and net/dev on kept-open
 *                           descriptors, and statvfs of /
 *   floor ROUNDS SIZE NAME...  ns of one process of a herd of SIZE that has just run: pread of those of its files, kept open
 *   floor paced ROUNDS MS   CPU time in ns of a round that begins each MS milliseconds: pread of the files whose
 *                           paths are the lines of standard input, and statvfs of /. A line that is a number asks for the CPU clock
 *                           of that process, the cheapest way to learn whether it has run
 *   floor start PROGRAM GROUP PATH...   reads each file, and runs PROGRAM once, in a new control group of its own unless GROUP is
 *                           empty, with a second process beside it as long as it runs, as a recorder does.
 *                           Prints nothing: the caller measures it
 *
 * Prints the median over the rounds; the mean of rounds that are paced.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "herd.h"
#include "measure.h"

static char text[1 << 20];

static void reread(int fd)
{
	if (pread(fd, text, sizeof(text), 0) < 0) {
		perror("pread");
		exit(1);
	}
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static int64_t host_floor_ns(int rounds)
{
	const int fds[] = {open_file("/proc/stat"), open_file("/proc/meminfo"), open_file("/proc/diskstats"),
			   open_file("/proc/net/dev")};
	int64_t *ns = calloc((size_t)rounds, sizeof(*ns));

	for (int round = 0; ns && round < rounds; round++) {
		int64_t begun = clock_ns(CLOCK_MONOTONIC);
		struct statvfs space;

		for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
			reread(fds[i]);
		(void)statvfs("/", &space);
		ns[round] = clock_ns(CLOCK_MONOTONIC) - begun;
	}
	return ns ? median_ns(ns, rounds) : -1;
}

static int64_t process_floor_ns(int rounds, int size, int names, char *const *name)
{
	int count = size * names;
	int *fds = calloc((size_t)count, sizeof(*fds));
	int64_t *ns = calloc((size_t)rounds, sizeof(*ns)), median;
	struct herd herd;

	if (!fds || !ns || herd_start(&herd, size) < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/%s", herd.pids[i / names], name[i % names]);
		fds[i] = open_file(path);
	}
	for (int round = 0; round < rounds; round++) {
		int64_t begun;

		herd_run(&herd);
		begun = clock_ns(CLOCK_MONOTONIC);
		for (int i = 0; i < count; i++)
			reread(fds[i]);
		ns[round] = (clock_ns(CLOCK_MONOTONIC) - begun) / size;
	}
	herd_stop(&herd);
	median = median_ns(ns, rounds);
	free(fds);
	free(ns);
	return median;
}

/* A question of each round. */
struct asked {
	int fd; /* -1: a clock */
	clockid_t clock;
};

enum { MOST_ASKED = 100000 };

/* The files and processes that standard input names. */
static int open_named(struct asked *asked)
{
	char line[4096];
	int count = 0;

	while (asked && count < MOST_ASKED && fgets(line, sizeof(line), stdin)) {
		struct asked *one = &asked[count++];

		line[strcspn(line, "\n")] = '\0';
		one->fd = *line == '/' ? open_file(line) : -1;
		if (one->fd < 0 && clock_getcpuclockid(atoi(line), &one->clock) != 0) {
			fprintf(stderr, "%s: no such process\n", line);
			exit(1);
		}
	}
	return count;
}

/* The wake-up belongs to the round. */
static int64_t paced_floor_ns(int rounds, int pause_ms)
{
	struct asked *asked = calloc(MOST_ASKED, sizeof(*asked));
	int count = open_named(asked);
	struct timespec at;
	int64_t begun;

	if (!asked)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &at);
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int round = 0; round < rounds; round++) {
		struct statvfs space;

		at.tv_nsec += pause_ms % 1000 * 1000000L;
		at.tv_sec += pause_ms / 1000 + at.tv_nsec / 1000000000L;
		at.tv_nsec %= 1000000000L;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		for (const struct asked *one = asked; one < asked + count; one++)
			if (one->fd >= 0)
				reread(one->fd);
			else
				(void)clock_ns(one->clock);
		(void)statvfs("/", &space);
	}
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
	free(asked);
	return begun / rounds;
}

/* A fork whose child begins in the group; -1: in the caller's. */
static pid_t fork_into(int group)
{
	struct clone_args how = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)group};

	return group < 0 ? fork() : (pid_t)syscall(SYS_clone3, &how, sizeof(how));
}

/* The files stay open, as those of a recorder do. One that has gone meanwhile is left out. */
static int start(char *program, const char *path, char **paths)
{
	int group = *path && mkdir(path, 0755) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char *const words[] = {program, NULL};
	pid_t beside, job;

	for (; *paths; paths++) {
		int fd = open(*paths, O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			(void)!pread(fd, text, sizeof(text), 0);
	}
	beside = fork();
	if (beside == 0)
		pause();
	job = fork_into(group);
	if (job == 0) {
		execv(program, words);
		_exit(127);
	}
	if (beside < 0 || job < 0 || waitpid(job, NULL, 0) < 0)
		return 1;
	kill(beside, SIGKILL);
	return waitpid(beside, NULL, 0) < 0 || (group >= 0 && rmdir(path) < 0);
}

int main(int argc, char **argv)
{
	bool paced = argc == 4 && strcmp(argv[1], "paced") == 0;
	int rounds = argc > 1 ? atoi(argv[1 + paced]) : 0, size = argc > 2 ? atoi(argv[2 + paced]) : 0;
	struct rlimit files;
	int64_t ns;

	if (argc > 3 && strcmp(argv[1], "start") == 0)
		return start(argv[2], argv[3], argv + 4);
	if (rounds <= 0 || size < 0) {
		fprintf(stderr,
			"usage: floor ROUNDS [SIZE NAME...], floor paced ROUNDS MS, floor start PROGRAM "
			"GROUP PATH...\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (paced)
		ns = paced_floor_ns(rounds, size);
	else
		ns = size ? process_floor_ns(rounds, size, argc - 3, argv + 3) : host_floor_ns(rounds);
	printf("%lld\n", (long long)ns);
	return ns < 0;
}
