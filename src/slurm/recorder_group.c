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

enum { CGROUP_FILE_BYTES = 16384 };

struct long_path {
	char text[2 * PATH_MAX];
};

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

static const char *path_in(const char *folder, const char *name, struct long_path *path)
{
	snprintf(path->text, sizeof path->text, "%s/%s", folder, name);
	return path->text;
}

/* The file cgroup has one line of version 2, the last: 0::PATH. `file` is all 0 before. */
static bool find_scope(const char *process, char *file, size_t size, const char **ret_scope)
{
	struct long_path name;
	char *path;
	int fd = open(path_in(process, "cgroup", &name), O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!read(fd, file, size - 1);
		close(fd);
	}
	path = strncmp(file, "0::/", 4) == 0 ? file : strstr(file, "\n0::/");
	if (!path)
		return false;
	path = strchr(path, '/');
	*ret_scope = path;
	return cut_to_scope(path);
}

/* Writes the path of the group into text: below the first mount of version 2. */
static bool write_path(const char *process, const char *scope, char *text, size_t size)
{
	char line[2 * PATH_MAX];
	struct long_path name;
	FILE *mounts = setmntent(path_in(process, "mounts", &name), "re");
	struct mntent one;
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &one, line, sizeof line))
		found = strcmp(one.mnt_type, "cgroup2") == 0;
	if (mounts)
		endmntent(mounts);
	return found && (size_t)snprintf(text, size, "%s%s/resource-tracker", one.mnt_dir, scope) < size;
}

int open_recorder_group(const char *process)
{
	char file[CGROUP_FILE_BYTES] = "", group[PATH_MAX];
	struct long_path name;
	const char *scope;
	int fd;

	if (!find_scope(process, file, sizeof file, &scope))
		return -ENOENT;
	if (!write_path(process, scope, group, sizeof group))
		return -ENOTDIR;
	if (mkdir(group, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path_in(group, "cgroup.procs", &name), O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
