/* Included by each file of the portable builds for glibc 2.17, which lacks three functions. */
#pragma once
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline void *portable_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

static inline ssize_t portable_getrandom(void *bytes, size_t length, unsigned flags)
{
	return syscall(SYS_getrandom, bytes, length, flags);
}

static inline int portable_memfd_create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

#define memfd_create portable_memfd_create
#define reallocarray portable_reallocarray
#define getrandom portable_getrandom
