/* Writing where waiting is allowed. */
#pragma once

#include <stddef.h>

/* All of it, however many calls that takes. 0 or a negative errno; a part may have been written then. */
int write_all(int fd, const void *bytes, size_t length);
