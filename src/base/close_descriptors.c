/* Closes descriptors by close_range(2), or one by one before Linux 5.9. See close_descriptors.h. */
#include "base/close_descriptors.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scan.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { MOST_TRIED = 65536 };

/* Without /proc: every number that the limit allows. */
static void close_by_number(int first, int keep_a, int keep_b)
{
	struct rlimit open_files;
	int end = MOST_TRIED;

	if (getrlimit(RLIMIT_NOFILE, &open_files) == 0 && open_files.rlim_cur < MOST_TRIED)
		end = (int)open_files.rlim_cur;
	for (int fd = first; fd < end; fd++)
		if (fd != keep_a && fd != keep_b)
			close(fd);
}

/* /proc/self/fd has a link for each open descriptor, with its number as the name. */
static void close_one_by_one(int first, int keep_a, int keep_b)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!folder) {
		close_by_number(first, keep_a, keep_b);
		return;
	}
	while ((entry = readdir(folder))) {
		struct scan scan = scan_bytes(entry->d_name, strlen(entry->d_name));
		uint64_t number;
		int fd;

		if (!scan_u64(&scan, &number) || number > INT_MAX)
			continue;
		fd = (int)number;
		if (fd >= first && fd != keep_a && fd != keep_b && fd != dirfd(folder))
			close(fd);
	}
	closedir(folder);
}

static bool close_range_of(int first, int last)
{
	return first > last || syscall(SYS_close_range, first, last, 0) == 0;
}

void close_descriptors(int first, int keep_a, int keep_b)
{
	int low = keep_a < keep_b ? keep_a : keep_b, high = keep_a < keep_b ? keep_b : keep_a;

	if (low < first)
		low = first - 1;
	if (high < low)
		high = low;
	if (!close_range_of(first, low - 1) || !close_range_of(low + 1, high - 1) ||
	    syscall(SYS_close_range, high + 1, ~0U, 0) < 0)
		close_one_by_one(first, keep_a, keep_b);
}
