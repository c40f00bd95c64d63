/*
 * /proc/PID/task/TID/children
 *
 *   4217 4218 4301
 */
#include "kernel/proc_pid_children.h"

#include "base/scan.h"

struct scan parse_proc_pid_children(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

int read_proc_pid_children(struct root *root, pid_t pid, pid_t tid, struct scan *ret_children)
{
	ssize_t length = root_readf(root, "proc/%d/task/%d/children", (int)pid, (int)tid);

	if (length < 0)
		return (int)length;
	*ret_children = parse_proc_pid_children(root->text.data, (size_t)length);
	return 0;
}
