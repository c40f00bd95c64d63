/* Clocks and medians of the bench programs. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
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

/* Sorts; the middle one of what was measured. */
static inline int64_t median_ns(int64_t *ns, int count)
{
	qsort(ns, (size_t)count, sizeof(*ns), compare_ns);
	return ns[count / 2];
}
