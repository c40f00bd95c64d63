/* Public structs whose first member is their size in the caller's header, so that a later library may add members. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * Copies as much of `whole` as the caller's struct has room for; its size stays. Returns 0, or -EINVAL if the caller gave a
 * size below that of version 0.1, which is `least`.
 */
static inline int copy_sized(void *ret_struct, const void *whole, size_t whole_size, size_t least)
{
	size_t size;

	memcpy(&size, ret_struct, sizeof(size));
	if (size < least)
		return -EINVAL;
	if (size > whole_size)
		size = whole_size;
	memcpy((char *)ret_struct + sizeof(size), (const char *)whole + sizeof(size), size - sizeof(size));
	return 0;
}
