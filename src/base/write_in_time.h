/* Writes to a reader that may be stuck: a full pipe, a terminal that Ctrl-S has stopped. */
#pragma once

#include <stddef.h>

/*
 * Writes everything within `timeout_ms`. Returns 0, -ETIMEDOUT, or another negative errno. A part may have been
 * written then. Never waits longer, even if another process writes to the same pipe or terminal meanwhile.
 */
int write_in_time(int fd, const void *bytes, size_t length, int timeout_ms);
