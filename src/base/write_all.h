/* Writes all bytes, where waiting is allowed. */
#pragma once

#include <stddef.h>

/*
 * Writes everything, in as many calls as needed. Returns 0 or a negative errno. A part may have been written
 * then.
 */
int write_all(int fd, const void *bytes, size_t length);
