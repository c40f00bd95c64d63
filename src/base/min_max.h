/* The smaller and the larger of two integers, and how far apart they are. */
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

static inline int64_t absolute_difference(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}
