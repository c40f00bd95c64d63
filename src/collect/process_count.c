/* Counts processes. See process_count.h. */
#include "collect/process_count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "metric/absent.h"

enum { READING_SHARE = 100, ENTRIES_BYTES = 2048 };

/* The layout that getdents64(2) writes. */
struct directory_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/*
 * Counts the folders in /proc that are not processes. They come first, and a small buffer keeps the kernel
 * from listing thousands of processes after them.
 */
static int64_t count_other_folders(const struct root *root)
{
	_Alignas(struct directory_entry) char entries[ENTRIES_BYTES];
	CLEANUP_CLOSE int fd = openat(root->dir_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t count = 0;
	long length;

	while (fd >= 0 && (length = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < length;) {
			const struct directory_entry *entry = (const void *)(entries + at);

			if (entry->name[0] >= '1' && entry->name[0] <= '9')
				return count;
			count += entry->type == DT_DIR && strcmp(entry->name, ".") &&
				 strcmp(entry->name, "..");
			at += entry->length;
		}
	}
	return -1;
}

/* Counts the numeric entries of /proc. Returns the number or a negative errno. */
static int64_t count_entries(const struct root *root)
{
	int fd = openat(root->dir_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int64_t count = 0;

	if (!directory) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
	while ((entry = readdir(directory)))
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	closedir(directory);
	return count;
}

static int64_t count_links(const struct root *root)
{
	struct stat stat;

	return root->proc_fd >= 0 && fstat(root->proc_fd, &stat) == 0 ? (int64_t)stat.st_nlink : -1;
}

/* Whether /proc shows the first PID namespace, which has an entry for every process of the machine. */
static bool is_first_pid_namespace(const struct root *root)
{
	char target[64];

	/* PROC_PID_INIT_INO, the inode number of the first namespace at every boot. */
	return root_link(root, "proc/self/ns/pid", target, sizeof target) > 0 &&
	       strcmp(target, "pid:[4026531836]") == 0;
}

void process_counter_open(struct process_counter *counter)
{
	*counter = (struct process_counter){.count = -1};
}

static void calibrate_link_count(struct process_counter *counter, const struct root *root)
{
	int64_t folders = root->live && is_first_pid_namespace(root) ? count_other_folders(root) : -1;

	counter->calibrated = true;
	if (folders < 0)
		return;
	/* A folder has one link for each subfolder, and two of its own. */
	counter->links_of_others = folders + 2;
	counter->by_links = true;
}

int64_t process_counter_read(struct process_counter *counter, struct root *root)
{
	int64_t begun_ns = root_monotonic_ns(root), ended_ns, links;

	if (!counter->calibrated)
		calibrate_link_count(counter, root);
	if (counter->by_links) {
		links = count_links(root);
		return links < 0 ? no_count(errno) : links - counter->links_of_others;
	}
	if (counter->count < 0 || begun_ns >= counter->next_reading_ns) {
		counter->count = count_entries(root);
		ended_ns = root_monotonic_ns(root);
		counter->next_reading_ns = ended_ns + (ended_ns - begun_ns) * READING_SHARE;
		if (counter->count < 0)
			return no_count((int)counter->count);
	}
	/* On a live system there is at least the reader. A captured tree has left its processes out. */
	return counter->count ? counter->count : no_count(ABSENT_NOT_COLLECTED);
}
