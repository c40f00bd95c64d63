/* Whether the figures of /proc and /sys are the kernel's own. */
#pragma once

#include <stddef.h>

#include "kernel/root.h"

/*
 * "kernel", or else words joined by "+": gvisor or wsl1 (they answer system calls like a kernel), lxcfs or sysboxfs (a file system
 * over files of /proc), no-sys (nothing below /sys), no-proc-stat (/proc/stat is missing, or each of its counters is 0).
 */
void read_figures_from(struct root *root, char *ret_text, size_t size);
