/* /proc/PID/task/TID/syscall: the system call in which a thread waits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSCALL_ARGUMENTS = 6 };

struct proc_pid_syscall {
	bool is_running; /* on a CPU, or ready to run: the rest is 0 */
	int64_t number;  /* -1: it waits outside a call, for a page */
	uint64_t arguments[SYSCALL_ARGUMENTS];
};

/* Returns 0, or -EBADMSG for any other text; ret_syscall is then untouched. */
int parse_proc_pid_syscall(const char *bytes, size_t length, struct proc_pid_syscall *ret_syscall);
