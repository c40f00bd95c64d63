/* FNV-1a, a hash of bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t fnv_add(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Never 0, which stands for nothing. */
static inline uint64_t fnv_of(const char *bytes, size_t length)
{
	uint64_t hash = fnv_add(FNV_BEGIN, bytes, length);

	return hash ? hash : 1;
}
