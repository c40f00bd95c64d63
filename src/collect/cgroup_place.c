/* Where a process's cgroup has its files; see cgroup_place.h. */
#include "collect/cgroup_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kernel/proc_pid_cgroup.h"
#include "kernel/proc_pid_mountinfo.h"

enum { PATH_SIZE = 4096 };

static const char *const CONTROLLERS[CGROUP_HIERARCHIES] = {
	[CGROUP_CPU] = "cpu",
	[CGROUP_CPUACCT] = "cpuacct",
	[CGROUP_MEMORY] = "memory",
	[CGROUP_CPUSET] = "cpuset",
};

/* A hierarchy's mount and the path of the process in it. */
struct located {
	char point[PATH_SIZE];
	char mounted_root[PATH_SIZE];
	char path[PATH_SIZE];
	bool is_mounted;
	bool is_member;
};

static void close_chain(struct cgroup_chain *chain)
{
	for (int i = 0; i < chain->depth; i++)
		close(chain->folders[i]);
	*chain = (struct cgroup_chain){0};
}

void cgroup_place_close(struct cgroup_place *place)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		close_chain(&place->chains[i]);
	*place = CGROUP_PLACE;
}

/* FNV-1a, never 0. */
static uint64_t hash_of(const char *bytes, size_t length)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

static ssize_t read_memberships(struct root *root, pid_t pid)
{
	return pid ? root_readf(root, "proc/%d/cgroup", (int)pid) : root_read(root, "proc/self/cgroup");
}

/* "/docker/ID/x" below a mount of "/docker/ID" is "/x"; what lies elsewhere can only be the mount's own root. */
static const char *relative_path(const struct located *located)
{
	size_t length = strlen(located->mounted_root);

	if (strcmp(located->mounted_root, "/") == 0)
		return strncmp(located->path, "/..", 3) == 0 ? "" : located->path;
	if (strncmp(located->path, located->mounted_root, length) == 0 &&
	    (located->path[length] == '\0' || located->path[length] == '/'))
		return located->path + length;
	return "";
}

static void open_chain(struct cgroup_chain *chain, const struct root *root, const struct located *located)
{
	char path[PATH_SIZE];
	size_t point_length = strlen(located->point);
	int length = snprintf(path, sizeof path, "%s%s", located->point, relative_path(located));

	if (length < 0 || (size_t)length >= sizeof path)
		return;
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	while ((size_t)length >= point_length && chain->depth < CGROUP_DEPTH_MOST) {
		/* Paths below the root descriptor have no leading slash. */
		int folder = root_open_file(root, path + 1, O_DIRECTORY);
		char *slash;

		if (folder >= 0)
			chain->folders[chain->depth++] = folder;
		if ((size_t)length == point_length)
			break;
		slash = strrchr(path, '/');
		*slash = '\0';
		length = (int)(slash - path);
	}
	chain->complete = strcmp(located->mounted_root, "/") == 0 && (size_t)length <= point_length;
}

static void locate_mount(const struct mount *mount, enum cgroup_hierarchy hierarchy, struct located *located)
{
	bool right_type = scan_is(&mount->type, hierarchy == CGROUP_UNIFIED ? "cgroup2" : "cgroup");

	if (located->is_mounted || !right_type ||
	    (hierarchy != CGROUP_UNIFIED && !mount_has_option(mount, CONTROLLERS[hierarchy])))
		return;
	mount_text(&mount->point, located->point, sizeof located->point);
	mount_text(&mount->root, located->mounted_root, sizeof located->mounted_root);
	located->is_mounted = true;
}

static int find_chain(struct cgroup_place *place, struct root *root, pid_t pid,
		      enum cgroup_hierarchy hierarchy)
{
	struct kept_file mountinfo = KEPT_FILE("proc/self/mountinfo");
	struct located located = {.is_mounted = false};
	struct cgroup_membership membership;
	struct scan mounts;
	struct mount mount;
	ssize_t length = read_memberships(root, pid);

	if (length < 0)
		return (int)length;
	if (!proc_pid_cgroup_find(parse_proc_pid_cgroup(root->text.data, (size_t)length),
				  CONTROLLERS[hierarchy], &membership))
		return 0;
	scan_copy(&membership.path, located.path, sizeof located.path);
	if (read_proc_pid_mountinfo(root, &mountinfo, &mounts) == 0)
		while (proc_pid_mountinfo_next(&mounts, &mount))
			locate_mount(&mount, hierarchy, &located);
	kept_file_close(&mountinfo);
	if (located.is_mounted)
		open_chain(&place->chains[hierarchy], root, &located);
	return 0;
}

int cgroup_place_find(struct cgroup_place *place, struct root *root, pid_t pid)
{
	ssize_t length = read_memberships(root, pid);
	uint64_t hash;

	if (length < 0)
		return (int)length;
	hash = hash_of(root->text.data, (size_t)length);
	if (hash == place->memberships_hash)
		return 0;
	cgroup_place_close(place);
	for (enum cgroup_hierarchy i = 0; i < CGROUP_HIERARCHIES; i++) {
		int error = find_chain(place, root, pid, i);

		if (error < 0)
			return error;
	}
	place->memberships_hash = hash;
	return 1;
}
