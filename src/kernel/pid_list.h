/*
 * Files that list process ids: /proc/PID/task/TID/children (one line), cgroup.procs (a line each).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/scan.h"

/*
 * The next id of the list; words that are none are skipped. 0 does occur: cgroup.procs shows so a process
 * that the reader's PID namespace cannot name.
 */
bool scan_pid(struct scan *text, pid_t *ret_pid);
