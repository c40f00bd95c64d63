/* How many processes there are; see process_count.h. */
#include "collect/process_count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metric/absent.h"

enum { READING_SHARE = 100, CALIBRATION_TRIES = 3 };

/* Numeric entries of /proc; or a negative errno. */
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

/* Whether /proc shows the first PID namespace, where every process of the machine has its entry. */
static bool is_first_pid_namespace(const struct root *root)
{
	char target[64];

	/* The kernel gives this inode number to the first namespace at every boot (PROC_PID_INIT_INO). */
	return root_link(root, "proc/self/ns/pid", target, sizeof target) > 0 &&
	       strcmp(target, "pid:[4026531836]") == 0;
}

void process_counter_open(struct process_counter *counter, struct root *root)
{
	*counter = (struct process_counter){.count = -1};
	if (!root->live || !is_first_pid_namespace(root))
		return;
	for (int i = 0; i < CALIBRATION_TRIES; i++) {
		int64_t before = count_links(root), entries = count_entries(root), after = count_links(root);

		/* Only a count during which nothing came or went tells the constant. */
		if (before < 0 || entries < 0)
			return;
		if (before == after) {
			counter->by_links = true;
			counter->links_of_others = before - entries;
			return;
		}
	}
}

int64_t process_counter_read(struct process_counter *counter, struct root *root)
{
	int64_t begun_ns = root_monotonic_ns(root), ended_ns, links;

	if (counter->by_links) {
		links = count_links(root);
		return links < 0 ? no_count(errno) : links - counter->links_of_others;
	}
	if (counter->count >= 0 && begun_ns < counter->next_reading_ns)
		return counter->count;
	counter->count = count_entries(root);
	ended_ns = root_monotonic_ns(root);
	counter->next_reading_ns = ended_ns + (ended_ns - begun_ns) * READING_SHARE;
	return counter->count < 0 ? no_count((int)counter->count) : counter->count;
}
