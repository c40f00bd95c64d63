/* The path or the addresses of the thing that a process waits for, for --record-targets. */
#pragma once

#include "kernel/root.h"
#include "job/waits/wait_class.h"

/* Of a path, and of two addresses with their ports. A longer path is cut. */
enum { WAIT_DETAIL_SIZE = 256 };

/* Writes the text, or "": there is no descriptor, or the kernel refuses. */
void wait_detail(const struct root *root, const struct found_wait *wait, char ret_text[WAIT_DETAIL_SIZE]);
