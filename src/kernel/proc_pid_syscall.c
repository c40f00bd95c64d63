/*
 * /proc/PID/task/TID/syscall
 *
 *   running
 *   -1 0x7ffe5b4c9b88 0x7f8421e182ad
 *   61 0xffffffff 0x7ffe5b4c9b6c 0x0 0x0 0x0 0x0 0x7ffe5b4c9b38 0x7f8421dd1c16
 */
#include "kernel/proc_pid_syscall.h"

#include <errno.h>

#include "base/scan.h"

int parse_proc_pid_syscall(const char *bytes, size_t length, struct proc_pid_syscall *ret_syscall)
{
	struct scan text = scan_bytes(bytes, length);
	struct proc_pid_syscall found = {0};

	if (scan_literal(&text, "running")) {
		found.is_running = true;
	} else {
		if (!scan_i64(&text, &found.number) || found.number < -1)
			return -EBADMSG;
		for (int i = 0; found.number >= 0 && i < SYSCALL_ARGUMENTS; i++) {
			scan_blanks(&text);
			if (!scan_literal(&text, "0x") || !scan_hex(&text, &found.arguments[i]))
				return -EBADMSG;
		}
	}
	*ret_syscall = found;
	return 0;
}
