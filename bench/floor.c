/*
 * The floor: the cost of reading alone, without parsing, summing or writing.
 *
 *   floor ROUNDS            ns of one host sample: pread of stat, meminfo, diskstats and net/dev on kept-open
 *                           descriptors, and statvfs of /
 *   floor ROUNDS SIZE       ns of one process of a herd of SIZE: pread of its kept-open stat, statm and io
 *   floor paced ROUNDS MS   CPU time in ns of a round that begins each MS milliseconds: pread of the files whose
 *                           paths are the lines of standard input, and statvfs of /
 *
 * Prints the median over the rounds; the mean of rounds that are paced.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
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

static int64_t process_floor_ns(int rounds, int size)
{
	static const char *const NAMES[] = {"stat", "statm", "io"};
	int *fds = calloc((size_t)size * 3, sizeof(*fds));
	int64_t *ns = calloc((size_t)rounds, sizeof(*ns)), median;
	struct herd herd;

	if (!fds || !ns || herd_start(&herd, size) < 0)
		return -1;
	for (int i = 0; i < size * 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/%s", herd.pids[i / 3], NAMES[i % 3]);
		fds[i] = open_file(path);
	}
	for (int round = 0; round < rounds; round++) {
		int64_t begun;

		herd_run(&herd);
		begun = clock_ns(CLOCK_MONOTONIC);
		for (int i = 0; i < size * 3; i++)
			reread(fds[i]);
		ns[round] = (clock_ns(CLOCK_MONOTONIC) - begun) / size;
	}
	herd_stop(&herd);
	median = median_ns(ns, rounds);
	free(fds);
	free(ns);
	return median;
}

/* The descriptors of the files that standard input names; the last one is -1. */
static int *open_named(void)
{
	enum { MOST = 100000 };
	int *fds = calloc(MOST + 1, sizeof(*fds)), count = 0;
	char path[4096];

	while (fds && count < MOST && fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		fds[count++] = open_file(path);
	}
	if (fds)
		fds[count] = -1;
	return fds;
}

/* The wake-up belongs to the round. */
static int64_t paced_floor_ns(int rounds, int pause_ms)
{
	int *fds = open_named();
	struct timespec at;
	int64_t begun;

	if (!fds)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &at);
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int round = 0; round < rounds; round++) {
		struct statvfs space;

		at.tv_nsec += pause_ms % 1000 * 1000000L;
		at.tv_sec += pause_ms / 1000 + at.tv_nsec / 1000000000L;
		at.tv_nsec %= 1000000000L;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		for (const int *fd = fds; *fd >= 0; fd++)
			reread(*fd);
		(void)statvfs("/", &space);
	}
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
	free(fds);
	return begun / rounds;
}

int main(int argc, char **argv)
{
	bool paced = argc == 4 && strcmp(argv[1], "paced") == 0;
	int rounds = argc > 1 ? atoi(argv[1 + paced]) : 0, size = argc > 2 ? atoi(argv[2 + paced]) : 0;
	struct rlimit files;
	int64_t ns;

	if (rounds <= 0 || size < 0) {
		fprintf(stderr, "usage: floor ROUNDS [SIZE], floor paced ROUNDS MS\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (paced)
		ns = paced_floor_ns(rounds, size);
	else
		ns = size ? process_floor_ns(rounds, size) : host_floor_ns(rounds);
	printf("%lld\n", (long long)ns);
	return ns < 0;
}
