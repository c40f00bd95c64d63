#include "slurm/recorder_group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CGROUP_FILE_MOST = 16384 };

/* Cuts the path of a step's group, SCOPE/JOB/step_STEP..., to SCOPE. */
static bool cut_to_scope(char *path)
{
	char *step = NULL, *job;

	for (char *next = path; (next = strstr(next, "/step_")); next++)
		step = next;
	if (!step)
		return false;
	*step = '\0';
	job = strrchr(path, '/');
	if (!job)
		return false;
	*job = '\0';
	return true;
}

/* /proc/self/cgroup has one line of version 2, the last: 0::PATH */
static bool find_scope(char *file, size_t size, const char **ret_scope)
{
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, file, size - 1);
	char *path;

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return false;
	file[length] = '\0';
	path = strncmp(file, "0::/", 4) == 0 ? file : strstr(file, "\n0::/");
	if (!path)
		return false;
	path = strchr(path, '/');
	*ret_scope = path;
	return cut_to_scope(path);
}

/* Writes the path of the group into text: below the first mount of version 2. */
static bool write_path(const char *scope, char *text, size_t size)
{
	char line[2 * PATH_MAX];
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent one;
	bool found = false;
	int length = -1;

	while (mounts && !found && getmntent_r(mounts, &one, line, sizeof line))
		found = strcmp(one.mnt_type, "cgroup2") == 0;
	if (found)
		length = snprintf(text, size, "%s%s/resource-tracker", one.mnt_dir, scope);
	if (mounts)
		endmntent(mounts);
	return length > 0 && (size_t)length < size;
}

int open_recorder_group(void)
{
	char file[CGROUP_FILE_MOST], path[PATH_MAX];
	const char *scope;
	size_t length;
	int fd;

	if (!find_scope(file, sizeof file, &scope))
		return -ENOENT;
	if (!write_path(scope, path, sizeof path - sizeof "/cgroup.procs"))
		return -ENOTDIR;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -errno;
	length = strlen(path);
	snprintf(path + length, sizeof path - length, "/cgroup.procs");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
