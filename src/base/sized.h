/* Public structs whose first member is their size in the caller's header, so that a later library may add members. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The size of a struct up to a member: that of version 0.1, if it is the last one there. */
#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/*
 * Copies as much of `whole` as the caller's struct has room for. Its size stays. Returns 0, or -EINVAL if the caller gave a
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

/*
 * The other direction: fills `ret_whole`, a struct of this library, with the caller's. Members that the caller's header
 * lacks are zero. Returns -EINVAL as above, or -E2BIG if the caller's header is a later one and a member that this library
 * lacks is not zero.
 */
static inline int take_sized(void *ret_whole, size_t whole_size, size_t least, const void *given)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < least)
		return -EINVAL;
	for (size_t i = whole_size; i < size; i++)
		if (((const unsigned char *)given)[i])
			return -E2BIG;
	memset(ret_whole, 0, whole_size);
	memcpy(ret_whole, given, size < whole_size ? size : whole_size);
	return 0;
}
