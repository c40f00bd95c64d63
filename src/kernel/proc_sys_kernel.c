/*
 * /proc/sys/kernel/osrelease: 6.1.0-18-amd64
 * /proc/sys/kernel/hostname: node17
 * /proc/sys/kernel/random/boot_id: 5f0c9d3e-7c0b-4b0a-8d8e-0d4f3f1b2a6c
 */
#include "kernel/proc_sys_kernel.h"

#include <errno.h>

int read_proc_sys_kernel(struct root *root, struct proc_sys_kernel *ret_kernel)
{
	struct proc_sys_kernel kernel = {0};
	int known = 0;

	known +=
		root_read_word(root, "proc/sys/kernel/osrelease", kernel.release, sizeof kernel.release) == 0;
	known += root_read_word(root, "proc/sys/kernel/hostname", kernel.hostname, sizeof kernel.hostname) ==
		 0;
	known += root_read_word(root, "proc/sys/kernel/random/boot_id", kernel.boot_id,
				sizeof kernel.boot_id) == 0;
	if (!known)
		return -ENOENT;
	*ret_kernel = kernel;
	return 0;
}
