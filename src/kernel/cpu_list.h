/*
 * Lists of CPU numbers as the kernel writes them ("0-3,8,10-15"): cpuset.cpus, Cpus_allowed_list,
 * /sys/devices/system/cpu/online.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

/* Takes the next range of the list, or false at its end and at any text that does not parse as a range. */
bool scan_cpu_range(struct scan *list, uint32_t *ret_first, uint32_t *ret_last);

/*
 * Counts the CPUs in the list. An empty list has none, which for cpuset.cpus means "as the parent". Returns 0,
 * or -EBADMSG for a text that is not a list (ret_count is then untouched).
 */
int parse_cpu_list(const char *bytes, size_t length, int64_t *ret_count);
int read_cpu_list(struct root *root, int dir_fd, const char *file, int64_t *ret_count);
