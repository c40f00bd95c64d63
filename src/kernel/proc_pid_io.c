/*
 * /proc/PID/io
 *
 *   rchar: 3012
 *   wchar: 88
 *   syscr: 7
 *   syscw: 1
 *   read_bytes: 4096
 *   write_bytes: 0
 *   cancelled_write_bytes: 0
 */
#include "kernel/proc_pid_io.h"

#include <errno.h>

#include "base/cleanup.h"
#include "kernel/key_values.h"

static const struct key_field FIELDS[] = {
	KEY_FIELD("rchar", struct proc_pid_io, read_chars),
	KEY_FIELD("wchar", struct proc_pid_io, written_chars),
	KEY_FIELD("syscr", struct proc_pid_io, read_calls),
	KEY_FIELD("syscw", struct proc_pid_io, write_calls),
	KEY_FIELD("read_bytes", struct proc_pid_io, read_bytes),
	KEY_FIELD("write_bytes", struct proc_pid_io, write_bytes),
	KEY_FIELD("cancelled_write_bytes", struct proc_pid_io, cancelled_write_bytes),
};

int parse_proc_pid_io(const char *bytes, size_t length, struct proc_pid_io *ret_io)
{
	struct proc_pid_io io;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &io);
	if (!scan_key_values(scan_bytes(bytes, length), ':', FIELDS, ARRAY_SIZE(FIELDS), &io))
		return -EBADMSG;
	*ret_io = io;
	return 0;
}

int read_proc_pid_io(struct root *root, pid_t pid, struct proc_pid_io *ret_io)
{
	ssize_t length = root_read_pid(root, pid, "io");

	return length < 0 ? (int)length : parse_proc_pid_io(root->text.data, (size_t)length, ret_io);
}
