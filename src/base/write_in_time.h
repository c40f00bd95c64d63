/* Writing where the reader may be stuck: a full pipe, a terminal that Ctrl-S has stopped. */
#pragma once

#include <stddef.h>

/*
 * All of it, within `timeout_ms`. 0, -ETIMEDOUT, or another negative errno; a part may have been written then. Never
 * waits longer, also where another process writes to the same pipe or terminal at the same moment.
 */
int write_in_time(int fd, const void *bytes, size_t length, int timeout_ms);
