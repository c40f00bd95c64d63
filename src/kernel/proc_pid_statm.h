/* /proc/PID/statm: the memory of one process in pages, cheaply. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/*
 * In pages of root->page_bytes, -1 if absent. All are 0 for a zombie, a kernel thread, and a process whose main
 * thread has exited, which differs from using no memory.
 */
struct proc_pid_statm {
	int64_t virtual_pages;
	int64_t resident_pages;
	int64_t shared_pages; /* resident file and shmem pages, mapped by others or not */
};

/* Returns 0, or -EBADMSG when the text does not begin with a number (ret_statm is then untouched). */
int parse_proc_pid_statm(const char *bytes, size_t length, struct proc_pid_statm *ret_statm);
int read_proc_pid_statm(struct root *root, pid_t pid, struct proc_pid_statm *ret_statm);
