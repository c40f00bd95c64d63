/*
 * The floor: the cost of reading alone, without parsing, summing or writing.
 *
 *   floor ROUNDS            ns of one host sample: pread of stat, meminfo, diskstats and net/dev on kept-open
 *                           descriptors, and statvfs of /
 *   floor ROUNDS SIZE       ns of one process of a herd of SIZE: pread of its kept-open stat, statm and io
 *
 * Prints the median over the rounds.
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

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, size = argc > 2 ? atoi(argv[2]) : 0;
	struct rlimit files;
	int64_t ns;

	if (rounds <= 0 || size < 0) {
		fprintf(stderr, "usage: floor ROUNDS [SIZE]\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	ns = size ? process_floor_ns(rounds, size) : host_floor_ns(rounds);
	printf("%lld\n", (long long)ns);
	return ns < 0;
}
