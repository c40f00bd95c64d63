/* Finds the files of a process's cgroup. See cgroup_place.h. */
#include "collect/cgroup_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/proc_pid_cgroup.h"
#include "kernel/proc_pid_mountinfo.h"

enum { PATH_SIZE = 4096 };
#define OWN_AGE_NS (50 * NSEC_PER_MSEC)

static const char *const CONTROLLERS[CGROUP_HIERARCHIES] = {
	[CGROUP_CPU] = "cpu",       [CGROUP_CPUACCT] = "cpuacct", [CGROUP_MEMORY] = "memory",
	[CGROUP_CPUSET] = "cpuset", [CGROUP_BLKIO] = "blkio",     [CGROUP_PIDS] = "pids",
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
	place->memberships_hash = 0;
}

/* Each tick reads the job's file, so it stays open. Its descriptor stays with the process, too, if another one gets the number later. */
static ssize_t read_kept(struct cgroup_mounts *mounts, struct root *root, pid_t pid)
{
	if (mounts->file_of != pid) {
		if (mounts->file_of)
			kept_file_close(&mounts->file);
		snprintf(mounts->path, sizeof mounts->path, "proc/%d/cgroup", (int)pid);
		mounts->file = KEPT_FILE(mounts->path);
		mounts->file_of = pid;
	}
	return root_reread(root, &mounts->file);
}

/* Our own memberships are asked for again right away, when a cgroup is made for the job. */
static int read_memberships(struct cgroup_mounts *mounts, struct root *root, pid_t pid,
			    struct buffer *memberships)
{
	int64_t now_ns = root_monotonic_ns(root);
	ssize_t length;

	if (!pid && mounts->own && now_ns - mounts->own_read_ns < OWN_AGE_NS)
		return buffer_add_text(memberships, mounts->own), buffer_error(memberships);
	length = pid ? read_kept(mounts, root, pid) : root_read(root, "proc/self/cgroup");
	if (length < 0)
		return (int)length;
	buffer_add(memberships, root->text.data, (size_t)length);
	if (!pid && !buffer_error(memberships)) {
		free(mounts->own);
		mounts->own = strndup(memberships->data, memberships->length);
		mounts->own_read_ns = now_ns;
	}
	return buffer_error(memberships);
}

/* ---- mounts ------------------------------------------------------------------------------------------ */

void cgroup_mounts_done(struct cgroup_mounts *mounts)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++) {
		free(mounts->of[i].point);
		free(mounts->of[i].root);
	}
	free(mounts->own);
	if (mounts->file_of)
		kept_file_close(&mounts->file);
	*mounts = (struct cgroup_mounts){.known = false};
}

static void take_group_mount(struct cgroup_mounts *mounts, const struct mount *mount, const char *seen_from)
{
	bool is_v2 = scan_is(&mount->type, "cgroup2");
	char text[PATH_SIZE];
	size_t length = strlen(seen_from);

	if (!is_v2 && !scan_is(&mount->type, "cgroup"))
		return;
	for (enum cgroup_hierarchy i = 0; i < CGROUP_HIERARCHIES; i++) {
		struct cgroup_mount *known = &mounts->of[i];

		if (known->point || is_v2 != (i == CGROUP_UNIFIED) ||
		    (!is_v2 && !mount_has_option(mount, CONTROLLERS[i])))
			continue;
		mount_text(&mount->root, text, sizeof text);
		known->root = strdup(text);
		memcpy(text, seen_from, length + 1);
		mount_text(&mount->point, text + length, sizeof text - length);
		known->point = known->root ? strdup(text) : NULL;
	}
}

/* Whether " - cgroup" is in a line. A machine may have hundreds of other mounts. */
static bool may_be_cgroup(struct scan line)
{
	struct scan before;

	while (scan_until(&line, '-', &before))
		if (scan_literal(&line, " cgroup"))
			return true;
	return false;
}

/* Those of a process, as it sees them or (0) as we do. */
static void read_mounts(struct cgroup_mounts *mounts, struct root *root, pid_t pid)
{
	char path[32] = "proc/self/mountinfo", seen_from[32] = "";
	struct kept_file mountinfo = KEPT_FILE(path);
	struct scan lines, line;
	struct mount mount;

	if (mounts->known)
		return;
	if (pid) {
		snprintf(path, sizeof path, "proc/%d/mountinfo", (int)pid);
		snprintf(seen_from, sizeof seen_from, "/proc/%d/root", (int)pid);
	}
	if (read_proc_pid_mountinfo(root, &mountinfo, &lines) == 0)
		while (scan_line(&lines, &line))
			if (may_be_cgroup(line) && proc_pid_mountinfo_next(&line, &mount))
				take_group_mount(mounts, &mount, seen_from);
	kept_file_close(&mountinfo);
	mounts->known = true;
}

/* ---- folders ----------------------------------------------------------------------------------------- */

/* "/../x" lies outside our cgroup namespace; "/..x" is a name. */
static bool is_outside(const char *path)
{
	return strncmp(path, "/..", 3) == 0 && (path[3] == '\0' || path[3] == '/');
}

/* Below a group "/docker/ID", "/docker/ID/x" is "/x". NULL: it is elsewhere. */
static const char *path_below(const char *group, const char *path)
{
	size_t length = strlen(group);

	if (strcmp(group, "/") == 0)
		return is_outside(path) ? NULL : path;
	return strncmp(path, group, length) == 0 && (path[length] == '\0' || path[length] == '/')
		       ? path + length
		       : NULL;
}

static void open_chain(struct cgroup_chain *chain, const struct root *root, const struct cgroup_mount *mount,
		       const char *membership)
{
	char path[PATH_SIZE];
	size_t point_length = strlen(mount->point);
	const char *below = path_below(mount->root, membership);
	/* Our own group alone may lie outside the mount. It then is the root of the mount. */
	int length = snprintf(path, sizeof path, "%s%s", mount->point, below ? below : "");

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
		else if (!chain->depth)
			chain->own_missing = true;
		if ((size_t)length == point_length)
			break;
		slash = strrchr(path, '/');
		*slash = '\0';
		length = (int)(slash - path);
	}
	chain->complete = strcmp(mount->root, "/") == 0 && (size_t)length <= point_length;
}

/*
 * The kernel appends " (deleted)" to the path of a removed folder. A folder may also be named like that: if
 * it exists, it was not removed.
 */
static void open_membership(struct cgroup_chain *chain, const struct root *root,
			    const struct cgroup_mount *mount, const struct cgroup_membership *membership)
{
	char path[PATH_SIZE];

	scan_copy(&membership->whole_path, path, sizeof path);
	open_chain(chain, root, mount, path);
	if (!membership->deleted || !chain->own_missing)
		return;
	close_chain(chain);
	scan_copy(&membership->path, path, sizeof path);
	open_chain(chain, root, mount, path);
	/* A folder with that name is another one by now. */
	chain->own_missing = true;
}

static bool find_membership(const struct buffer *memberships, enum cgroup_hierarchy hierarchy,
			    struct cgroup_membership *ret_membership)
{
	return proc_pid_cgroup_find(parse_proc_pid_cgroup(memberships->data, memberships->length),
				    CONTROLLERS[hierarchy], ret_membership);
}

static bool has_path(const struct cgroup_mount *mount, const struct cgroup_membership *membership)
{
	char path[PATH_SIZE];

	scan_copy(&membership->whole_path, path, sizeof path);
	return mount->point && path_below(mount->root, path);
}

/* Whether our own group has no path below our mounts, and a process is in it. */
static bool is_in_hidden_own(struct cgroup_mounts *mounts, struct root *root, enum cgroup_hierarchy hierarchy,
			     const struct cgroup_membership *membership)
{
	CLEANUP_BUFFER struct buffer memberships = BUFFER(1 << 20);
	char own_path[PATH_SIZE], path[PATH_SIZE];
	struct cgroup_membership own;

	if (read_memberships(mounts, root, 0, &memberships) < 0 ||
	    !find_membership(&memberships, hierarchy, &own) || has_path(&mounts->of[hierarchy], &own))
		return false;
	scan_copy(&own.whole_path, own_path, sizeof own_path);
	scan_copy(&membership->whole_path, path, sizeof path);
	return path_below(own_path, path);
}

/*
 * A process of another container, which shares its processes with ours, may be in a group that our mounts lack. Its own mounts
 * have that group, and are below /proc/PID/root.
 */
static const struct cgroup_mount *mount_with(struct cgroup_mounts *mounts, struct cgroup_mounts *theirs,
					     struct root *root, pid_t pid, enum cgroup_hierarchy hierarchy,
					     const struct cgroup_membership *membership)
{
	const struct cgroup_mount *own = &mounts->of[hierarchy];

	if (has_path(own, membership))
		return own;
	if (!own->point)
		return NULL;
	if (!pid || is_in_hidden_own(mounts, root, hierarchy, membership))
		return own;
	read_mounts(theirs, root, pid);
	return has_path(&theirs->of[hierarchy], membership) ? &theirs->of[hierarchy] : NULL;
}

int cgroup_place_find(struct cgroup_place *place, struct cgroup_mounts *mounts, struct root *root, pid_t pid)
{
	CLEANUP_BUFFER struct buffer memberships = BUFFER(1 << 20);
	struct cgroup_mounts theirs = {.known = false};
	int error = read_memberships(mounts, root, pid, &memberships);
	uint64_t hash;

	if (error < 0)
		return error;
	hash = fnv_of(memberships.data, memberships.length);
	if (hash == place->memberships_hash)
		return 0;
	read_mounts(mounts, root, 0);
	cgroup_place_close(place);
	for (enum cgroup_hierarchy i = 0; i < CGROUP_HIERARCHIES; i++) {
		struct cgroup_membership membership;
		const struct cgroup_mount *mount;

		if ((place->only_unified && i != CGROUP_UNIFIED) ||
		    !find_membership(&memberships, i, &membership))
			continue;
		mount = mount_with(mounts, &theirs, root, pid, i, &membership);
		if (mount)
			open_membership(&place->chains[i], root, mount, &membership);
	}
	cgroup_mounts_done(&theirs);
	place->memberships_hash = hash;
	return 1;
}
