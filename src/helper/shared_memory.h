/* Memory that a process shares with a program that it starts, by descriptor. */
#pragma once

#include <stddef.h>

/*
 * Maps `size` zeroed bytes at *ret_memory. Returns its descriptor (close-on-exec) or a negative errno. On Linux
 * 3.17 and later, the other side cannot shrink it while we use it.
 */
int shared_memory_new(size_t size, void **ret_memory);
