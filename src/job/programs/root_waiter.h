/*
 * The children that the parent of an attached job's first process has waited for. When that process ends and its parent waits for it at once, the time
 * since the last sample is in no figure but those of the parent. They are the process's alone if the parent has waited for no other child
 * since they were read before: the kernel's events tell that.
 *
 * Example: a shell (the parent) has waited for 2.0 s of children when the tracker attaches to make, a child of it. When make has gone, it has
 * waited for 9.5 s, and no event told the end of another child. So make and its children have used 7.5 s.
 */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "kernel/proc_pid_stat.h"

struct root_waiter {
	pid_t pid;
	bool is_wanted; /* its figures shall be read */
	bool is_known;  /* they were read */
	bool is_late; /* an earlier pass found the process gone: its parent has not told its end in between */
	struct proc_pid_stat before;
};

/* Reads its figures while the job runs. They stay unknown if it may wait for another child that has ended already, or has several threads. */
void root_waiter_begin(struct root_waiter *waiter, struct root *root);

/* Returns whether *ret_usage has what it has waited for since. */
bool root_waiter_has(const struct root_waiter *waiter, struct root *root, struct rusage *ret_usage);
