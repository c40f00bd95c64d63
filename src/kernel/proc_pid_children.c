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
