/* /proc/PID/schedstat and /proc/PID/task/TID/schedstat: what the scheduler counts of one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/* The times of the main thread, or of the thread TID. A zombie still has them. */
struct proc_pid_schedstat {
	int64_t run_ns;  /* on a CPU */
	int64_t wait_ns; /* ready to run, but waiting for a CPU: complete up to its last turn */
	int64_t turns;   /* how often it got a CPU */
};

/*
 * Returns 0, or -EBADMSG without three numbers, or -ENODATA if all are 0: the kernel does not count (delay accounting is
 * off), or the thread has never run. ret_schedstat is then untouched.
 */
int parse_proc_pid_schedstat(const char *bytes, size_t length, struct proc_pid_schedstat *ret_schedstat);
