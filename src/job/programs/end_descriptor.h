/*
 * How a process ended that a pass has seen alive, where the kernel delivers no process events: in containers and PID namespaces, and to
 * ordinary users of older kernels. A descriptor of the process (pidfd) tells its wait status after it was reaped, since Linux 6.15. It needs no right.
 */
#pragma once

#include <sys/types.h>

/* Returns a descriptor, -ESRCH: the process has gone, or another negative errno: the kernel cannot tell, or no descriptor is left. */
int end_descriptor_open(pid_t pid);

/* Returns its wait status, and closes the descriptor. 0: it ended well, or the status is unknown. */
int end_descriptor_status(int fd);
