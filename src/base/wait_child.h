/* Waiting for a child where a filter of system calls (seccomp) may refuse wait4(2). */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

/*
 * Reaps as wait4(2) does; `pid` may be -1 for any child, `options` 0 or WNOHANG, and `ret_usage` NULL. Where wait4 is
 * refused, waitid(2) does the same.
 */
pid_t wait_child(pid_t pid, int *ret_status, int options, struct rusage *ret_usage);
