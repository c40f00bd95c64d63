/*
 * A job with much memory that maps more all the time: stall MIB SECONDS FILE
 *
 * Touches MIB of 4 KiB pages, then maps, touches and unmaps one page per millisecond. Writes to FILE the
 * longest time that this took and the 99.9th percentile, in nanoseconds. A reader that holds the job's memory
 * map locked shows here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"

#define MEMORY PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0

static int64_t map_one_ns(void)
{
	int64_t begun = clock_ns(CLOCK_MONOTONIC);
	char *page = mmap(NULL, 4096, MEMORY);

	if (page == MAP_FAILED)
		exit(1);
	*page = 1;
	munmap(page, 4096);
	return clock_ns(CLOCK_MONOTONIC) - begun;
}

static int touch(size_t bytes)
{
	char *memory = mmap(NULL, bytes, MEMORY);

	if (memory == MAP_FAILED)
		return -1;
	/* The kernel walks huge pages a hundred times as fast. Kernels without them refuse this call. */
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += 4096)
		memory[at] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t mib = argc == 4 ? (size_t)atoi(argv[1]) : 0, most, count = 0;
	int seconds = argc == 4 ? atoi(argv[2]) : 0;
	int64_t *ns, until;
	FILE *file;

	if (!mib || seconds <= 0) {
		fprintf(stderr, "usage: stall MIB SECONDS FILE\n");
		return 2;
	}
	most = (size_t)seconds * 1000;
	ns = calloc(most, sizeof(*ns));
	if (!ns || touch(mib << 20) < 0)
		return 1;
	until = clock_ns(CLOCK_MONOTONIC) + seconds * (int64_t)1000000000;
	while (count < most && clock_ns(CLOCK_MONOTONIC) < until) {
		ns[count++] = map_one_ns();
		usleep(1000);
	}
	qsort(ns, count, sizeof(*ns), compare_ns);
	file = fopen(argv[3], "w");
	if (!file || fprintf(file, "%lld\n%lld\n", (long long)ns[count - 1],
			     (long long)ns[count - 1 - count / 1000]) < 0)
		return 1;
	return fclose(file) != 0;
}
