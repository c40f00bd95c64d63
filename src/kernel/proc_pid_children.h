/*
 * /proc/PID/task/TID/children: the children that one thread of a process has forked. Present since Linux 3.5 if
 * CONFIG_PROC_CHILDREN is set. The list may miss living children while others start or exit. A caller that must
 * not lose one reads the known ones again by pid.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "kernel/pid_list.h"
#include "kernel/root.h"

/*
 * Begins an iteration over text that stays the caller's:
 *
 *   struct scan children = parse_proc_pid_children(bytes, length);
 *   while (scan_pid(&children, &pid))
 */
struct scan parse_proc_pid_children(const char *bytes, size_t length);
