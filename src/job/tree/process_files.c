/* The files of one member. See process_files.h. */
#include "job/tree/process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scan.h"
#include "job/tree/tree_tuning.h"
#include "kernel/pid_list.h"

enum { PATH_SIZE = 64 };

static const char *const NAMES[MEMBER_FILES] = {
	[FILE_STAT] = "stat",
	[FILE_STATM] = "statm",
	[FILE_IO] = "io",
	[FILE_SCHEDSTAT] = "schedstat",
};

int64_t descriptors_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT32_MAX)
		return INT32_MAX;
	/* Leave half to the program around the tracker, if this is a library in it. */
	return ((int64_t)limit.rlim_cur - TREE_DESCRIPTORS_OF_OTHERS) / 2;
}

int64_t process_clock_ns(pid_t pid)
{
	/* Computed like clock_getcpuclockid(3), without its system call. */
	clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return -1;
	return (int64_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

ssize_t member_read_kept(struct process_tree *tree, const struct member *member, int *fd, const char *name)
{
	char path[PATH_SIZE];
	bool sleeps = member->quiet_ticks > 1;

	if (*fd >= 0)
		return root_pread(tree->root, *fd);
	snprintf(path, sizeof path, "%d/%s", (int)member->pid, name);
	if (tree->fds_left <= (sleeps ? TREE_DESCRIPTORS_OF_RUNNING : 0) ||
	    (sleeps && fd != &member->files[FILE_STATM]))
		return root_read_at(tree->root, tree->root->proc_fd, path);
	*fd = openat(tree->root->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return errno == EMFILE || errno == ENFILE
			       ? root_read_at(tree->root, tree->root->proc_fd, path)
			       : -errno;
	tree->fds_left--;
	return root_pread(tree->root, *fd);
}

void member_close_kept(struct process_tree *tree, int *fd)
{
	if (*fd < 0)
		return;
	close(take_fd(fd));
	tree->fds_left++;
}

ssize_t member_read_file(struct process_tree *tree, struct member *member, enum member_file file)
{
	char children[PATH_SIZE] = "";

	if (file == FILE_CHILDREN && member->files[file] < 0)
		snprintf(children, sizeof children, "task/%d/children", (int)member->pid);
	return member_read_kept(tree, member, &member->files[file],
				file == FILE_CHILDREN ? children : NAMES[file]);
}

void member_close_files(struct process_tree *tree, struct member *member)
{
	for (enum member_file i = 0; i < MEMBER_FILES; i++)
		member_close_kept(tree, &member->files[i]);
}

int member_read_stat(struct process_tree *tree, struct member *member, struct proc_pid_stat *ret_stat)
{
	ssize_t length = member_read_file(tree, member, FILE_STAT);

	if (length < 0)
		return (int)length;
	return parse_proc_pid_stat(tree->root->text.data, (size_t)length, ret_stat);
}

DIR *process_folder_open(const struct root *root, const char *path)
{
	int fd = openat(root->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (!directory && fd >= 0)
		close(fd);
	return directory;
}

pid_t process_folder_next(DIR *directory)
{
	const struct dirent *entry;

	while ((entry = readdir(directory))) {
		struct scan name = scan_bytes(entry->d_name, strlen(entry->d_name));
		pid_t pid;

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && scan_pid(&name, &pid))
			return pid;
	}
	return 0;
}

size_t process_list_threads(const struct root *root, pid_t pid, pid_t *ret_threads, size_t most)
{
	char path[PATH_SIZE];
	DIR *directory;
	size_t count = 0;
	pid_t tid;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	directory = process_folder_open(root, path);
	if (!directory)
		return 0;
	while (count < most && (tid = process_folder_next(directory)) > 0)
		ret_threads[count++] = tid;
	closedir(directory);
	return count;
}
