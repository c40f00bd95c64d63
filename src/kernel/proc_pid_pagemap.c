/* /proc/PID/pagemap is binary: entries in the machine's byte order, at 8 times the page number. */
#include "kernel/proc_pid_pagemap.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/runs_once.h"

int open_proc_pid_pagemap(const struct root *root, pid_t pid)
{
	return root_open_pid(root, pid, "pagemap", 0);
}

ssize_t read_proc_pid_pagemap(int fd, uint64_t first, uint64_t *ret_entries, size_t count)
{
	ssize_t got;

	if (first > INT64_MAX / (int64_t)sizeof *ret_entries)
		return -EINVAL;
	do
		got = pread(fd, ret_entries, count * sizeof *ret_entries,
			    (off_t)(first * sizeof *ret_entries));
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got / (ssize_t)sizeof *ret_entries;
}

RUNS_ONCE bool proc_pid_pagemap_hides_frames(const struct root *root)
{
	uint64_t entry = 0, page = (uint64_t)(uintptr_t)&entry / (uint64_t)root->page_bytes;
	CLEANUP_CLOSE int fd = open_proc_pid_pagemap(root, getpid());

	return fd < 0 || read_proc_pid_pagemap(fd, page, &entry, 1) < 1 || !page_frame(entry);
}
