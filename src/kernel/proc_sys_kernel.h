/* /proc/sys/kernel: the kernel's release and the host's name. */
#pragma once

#include "kernel/root.h"

/* "" if it cannot be read. */
struct proc_sys_kernel {
	char release[65];  /* "6.1.0-18-amd64" */
	char hostname[65]; /* of the reader's UTS namespace */
	char boot_id[37];  /* new at every boot: with pid and start time it identifies a process for ever */
};

/* Returns 0, or -ENOENT when none of them can be read (ret_kernel is then untouched). */
int read_proc_sys_kernel(struct root *root, struct proc_sys_kernel *ret_kernel);
