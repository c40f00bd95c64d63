/*
 * /proc/self/fd: a link for each descriptor, with its number as the name. Used only if close_range(2) is
 * missing.
 */
#include "kernel/proc_self_fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scan.h"
#include "kernel/root.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { FIRST_FREE_FD = 3 };

static void close_one_by_one(int keep_a, int keep_b)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	const char *name;

	if (root_dir_open_at(AT_FDCWD, "/proc/self/fd", &dir) < 0)
		return;
	while ((name = root_dir_next(&dir))) {
		struct scan scan = scan_bytes(name, strlen(name));
		uint64_t fd;

		if (scan_u64(&scan, &fd) && fd >= FIRST_FREE_FD && fd <= INT_MAX && (int)fd != keep_a &&
		    (int)fd != keep_b && (int)fd != dirfd(dir.stream))
			close((int)fd);
	}
}

static bool close_range_of(int first, int last)
{
	return first > last || syscall(SYS_close_range, first, last, 0) == 0;
}

void close_other_descriptors(int keep_a, int keep_b)
{
	int low = keep_a < keep_b ? keep_a : keep_b, high = keep_a < keep_b ? keep_b : keep_a;

	if (low < FIRST_FREE_FD)
		low = FIRST_FREE_FD - 1;
	if (high < low)
		high = low;
	if (!close_range_of(FIRST_FREE_FD, low - 1) || !close_range_of(low + 1, high - 1) ||
	    syscall(SYS_close_range, high + 1, ~0U, 0) < 0)
		close_one_by_one(keep_a, keep_b);
}
