/* The path or the addresses of the thing that a process waits for, for --record-targets. */
#pragma once

#include "kernel/root.h"
#include "job/waits/wait_class.h"

/* Bytes of a detail with its NUL. A longer path is cut. */
enum { WAIT_DETAIL_SIZE = 256 };

/* Writes the path or the addresses, or "" if the wait has no descriptor or the kernel refuses. */
void wait_detail(const struct root *root, const struct found_wait *wait, char ret_text[WAIT_DETAIL_SIZE]);
