/* /dev/kmsg: the processes that the kernel has killed for lack of memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/root.h"

/*
 * Opens the kernel's log at its end. Returns 0, or a negative errno: -EPERM where users may not read it
 * (kernel.dmesg_restrict), -EOPNOTSUPP for a captured tree and in a PID namespace, because the log has the process ids of
 * the machine.
 */
int open_dev_kmsg(const struct root *root, int *ret_fd);

/*
 * Whether a record reports that a process was killed, or is about to be. The kernel reports most kills twice.
 * Records that a program has written are ignored.
 */
bool parse_dev_kmsg_kill(const char *bytes, size_t length, pid_t *ret_pid);

/*
 * Reads the next such record. Returns 1, 0 if there is none (yet), or a negative errno. Overwritten records are
 * skipped.
 */
int read_dev_kmsg_kill(int fd, pid_t *ret_pid);
