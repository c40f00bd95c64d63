/* Reads a file of the kernel or of the system as one text. */
#pragma once

#include "base/buffer.h"

/* Appends the whole file. Returns 0 or a negative errno; -EFBIG: it exceeds the buffer, or memory is exhausted. */
int read_whole_file(const char *path, struct buffer *text);
