/* The smaller and the larger of two integers, and how far apart they are, and a sum without limits. */
#pragma once

#include <stdint.h>

static inline int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A sum or difference that may wrap around instead of being undefined. */
static inline int64_t wrapping_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrapping_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t absolute_difference(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}
