/*
 * Files that list process ids: /proc/PID/task/TID/children (one line), cgroup.procs (a line each).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/scan.h"

/*
 * Returns the next id of the list. Other words are skipped. In cgroup.procs, 0 stands for a process that the
 * reader's PID namespace cannot name.
 */
bool scan_pid(struct scan *text, pid_t *ret_pid);

bool pid_list_has(const pid_t *pids, size_t count, pid_t pid);
