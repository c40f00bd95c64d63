/* Memory that a process shares with a program that it starts, by descriptor. */
#pragma once

#include <stddef.h>

/*
 * Zeroed, of `size` bytes, mapped at *ret_memory; returns its descriptor (close-on-exec) or a negative errno.
 * Where the kernel allows it (3.17), the other side cannot shrink it under our feet.
 */
int shared_memory_new(size_t size, void **ret_memory);
