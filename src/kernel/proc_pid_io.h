/* /proc/PID/io: bytes that one process read and wrote, together with the children that it has waited for. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/*
 * -1 absent. Only the process's own user may read the file. After the process has become a zombie, it can only
 * be read through a descriptor that was opened before.
 */
struct proc_pid_io {
	int64_t read_chars;    /* bytes returned by read(2) and the like, from anywhere */
	int64_t written_chars; /* bytes taken by write(2) and the like */
	int64_t read_calls;
	int64_t write_calls;
	int64_t read_bytes;            /* fetched from storage */
	int64_t write_bytes;           /* to be written to storage when the page was dirtied */
	int64_t cancelled_write_bytes; /* part of write_bytes that never reached storage: the page was dropped */
};

/* Returns 0, or -EBADMSG if no line is known (ret_io is then untouched). */
int parse_proc_pid_io(const char *bytes, size_t length, struct proc_pid_io *ret_io);
int read_proc_pid_io(struct root *root, pid_t pid, struct proc_pid_io *ret_io);
