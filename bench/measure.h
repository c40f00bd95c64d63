/* Clocks, medians and memory of the bench programs. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int compare_ns(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Sorts the measurements and returns the middle one. */
static inline int64_t median_ns(int64_t *ns, int count)
{
	qsort(ns, (size_t)count, sizeof(*ns), compare_ns);
	return ns[count / 2];
}

/* The number in a line "KEY: 123 kB" of a file of /proc; -1: no such line. */
static inline long proc_kib(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	size_t length = strlen(key);
	char *line = NULL;
	size_t size = 0;
	long kib = -1;

	while (file && kib < 0 && getline(&line, &size, file) >= 0)
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			kib = atol(line + length + 1);
	free(line);
	if (file)
		fclose(file);
	return kib;
}

/*
 * Reads a file that walks the page tables. The counter in statm is kept per processor and may be off by 256
 * KiB.
 */
static inline long resident_kib(void)
{
	return proc_kib("/proc/self/smaps_rollup", "Rss");
}

/* The peak of this program only: ru_maxrss would begin with the size of a parent that used vfork(2). */
static inline long peak_resident_kib(void)
{
	return proc_kib("/proc/self/status", "VmHWM");
}
