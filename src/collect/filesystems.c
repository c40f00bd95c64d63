/* Finds the real filesystems of a machine. See filesystems.h. */
#include "collect/filesystems.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"

enum { POINT_SIZE = 4096, LOOP_MAJOR = 7 };

static void filesystem_done(struct filesystem *filesystem)
{
	free(filesystem->mount_point);
	free(filesystem->source);
	free(filesystem->dataset_points);
}

static void forget_all(struct filesystems *filesystems)
{
	for (size_t i = 0; i < filesystems->count; i++)
		filesystem_done(&filesystems->all[i]);
	free(filesystems->all);
	filesystems->all = NULL;
	filesystems->count = 0;
	filesystems->known = false;
}

void filesystems_done(struct filesystems *filesystems)
{
	forget_all(filesystems);
	kept_file_close(&filesystems->mountinfo);
}

/* ---- which mounts are filesystems of their own -------------------------------------------------------- */

static bool is_listed_type(const struct scan *text, const char *const *list)
{
	for (; *list; list++)
		if (scan_is(text, *list))
			return true;
	return false;
}

/* Whether a mount point is inside a folder or the folder itself: "/run" and "/run/x", not "/runner". */
static bool is_below_mount(const char *point, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(point, folder, length) == 0 && (point[length] == '\0' || point[length] == '/');
}

static bool is_real(const struct mount *mount, const char *point)
{
	static const char *const IMAGES[] = {"squashfs", "iso9660", "udf", "erofs", "cramfs", NULL};
	static const char *const WITHOUT_DEVICE[] = {"btrfs", "zfs", "bcachefs", NULL};
	/*
	 * Single files that container runtimes bind from the host's disk. The container cannot fill that
	 * disk.
	 */
	static const char *const RUNTIMES_FILES[] = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", NULL};
	static const char *const KERNELS_FOLDERS[] = {"/proc", "/sys", "/dev", NULL};
	struct scan source = mount->source;

	if (is_listed_type(&mount->type, IMAGES) || mount_is_served(mount))
		return false;
	for (const char *const *file = RUNTIMES_FILES; *file; file++)
		if (strcmp(point, *file) == 0)
			return false;
	for (const char *const *folder = KERNELS_FOLDERS; *folder; folder++)
		if (is_below_mount(point, *folder))
			return false;
	if (is_listed_type(&mount->type, WITHOUT_DEVICE))
		return true;
	/* A container's root has no device, but it is the filesystem that its jobs fill. */
	if (scan_is(&mount->type, "overlay"))
		return strcmp(point, "/") == 0;
	return mount->major != 0 && scan_literal(&source, "/dev/");
}

/* "pool" of "pool/data/set". */
static size_t pool_length(const char *source)
{
	const char *slash = strchr(source, '/');

	return slash ? (size_t)(slash - source) : strlen(source);
}

static bool is_same_filesystem(const struct filesystem *known, const struct mount *mount, const char *source)
{
	if (!scan_is(&mount->type, known->type))
		return false;
	if (strcmp(known->type, "zfs") == 0)
		return pool_length(known->source) == pool_length(source) &&
		       strncmp(known->source, source, pool_length(source)) == 0;
	if (strcmp(known->type, "btrfs") == 0)
		return strcmp(known->source, source) == 0;
	return known->major == mount->major && known->minor == mount->minor;
}

/* ---- reading the mounts -------------------------------------------------------------------------------- */

/* Adds another mount point of a ZFS pool to its list. */
static int add_dataset(struct filesystem *pool, const char *point)
{
	size_t used = 0, length = strlen(point) + 1;
	char *points;

	for (const char *at = pool->dataset_points; at && *at; at += strlen(at) + 1)
		used = (size_t)(at - pool->dataset_points) + strlen(at) + 1;
	points = realloc(pool->dataset_points, used + length + 1);
	if (!points)
		return -ENOMEM;
	memcpy(points + used, point, length);
	points[used + length] = '\0';
	pool->dataset_points = points;
	return 0;
}

static int add_filesystem(struct filesystems *filesystems, const struct mount *mount, const char *point,
			  const char *source)
{
	struct filesystem *all = realloc(filesystems->all, (filesystems->count + 1) * sizeof *all), *added;

	if (!all)
		return -ENOMEM;
	filesystems->all = all;
	added = &all[filesystems->count];
	*added = (struct filesystem){.major = mount->major, .minor = mount->minor};
	/* If the root is on a loop device, its image file cannot be seen from here. */
	added->is_loop = mount->major == LOOP_MAJOR && strcmp(point, "/") != 0;
	scan_copy(&mount->type, added->type, sizeof added->type);
	added->mount_point = strdup(point);
	added->source = strdup(source);
	if (!added->mount_point || !added->source) {
		filesystem_done(added);
		return -ENOMEM;
	}
	filesystems->count++;
	return 0;
}

/* Mounts are listed in the order in which they were made: a newer one at this point hides the older. */
static void forget_hidden(struct filesystems *filesystems, const char *point)
{
	for (size_t i = 0; i < filesystems->count; i++) {
		if (strcmp(filesystems->all[i].mount_point, point) != 0)
			continue;
		filesystem_done(&filesystems->all[i]);
		filesystems->count--;
		memmove(&filesystems->all[i], &filesystems->all[i + 1],
			(filesystems->count - i) * sizeof *filesystems->all);
		return;
	}
}

static int take_listed_mount(struct filesystems *filesystems, const struct mount *mount)
{
	char point[POINT_SIZE], source[POINT_SIZE];

	mount_text(&mount->point, point, sizeof point);
	mount_text(&mount->source, source, sizeof source);
	forget_hidden(filesystems, point);
	if (!is_real(mount, point))
		return 0;
	for (size_t i = 0; i < filesystems->count; i++) {
		struct filesystem *known = &filesystems->all[i];

		if (!is_same_filesystem(known, mount, source))
			continue;
		return strcmp(known->type, "zfs") == 0 && strcmp(known->source, source) != 0
			       ? add_dataset(known, point)
			       : 0;
	}
	return add_filesystem(filesystems, mount, point, source);
}

static bool have_changed(const struct filesystems *filesystems)
{
	struct pollfd mounts = {.fd = filesystems->mountinfo.fd, .events = POLLPRI};

	return !filesystems->known || filesystems->mountinfo.fd < 0 || poll(&mounts, 1, 0) != 0;
}

int filesystems_refresh(struct filesystems *filesystems, struct root *root)
{
	struct scan mounts;
	struct mount mount;
	int error;

	if (!have_changed(filesystems))
		return 0;
	error = read_proc_pid_mountinfo(root, &filesystems->mountinfo, &mounts);
	if (error < 0)
		return error;
	forget_all(filesystems);
	while (proc_pid_mountinfo_next(&mounts, &mount)) {
		error = take_listed_mount(filesystems, &mount);
		if (error < 0)
			return error;
	}
	filesystems->known = true;
	return 1;
}

/* ---- space ---------------------------------------------------------------------------------------------- */

static int captured_space(struct root *root, const char *point, struct filesystem_space *ret_space)
{
	ssize_t length = root_read(root, ".statvfs");
	struct scan text, line, word;

	if (length < 0)
		return (int)length;
	text = scan_bytes(root->text.data, (size_t)length);
	while (scan_line(&text, &line)) {
		struct filesystem_space space;

		if (scan_word(&line, &word) && scan_is(&word, point) && scan_i64(&line, &space.total_bytes) &&
		    scan_i64(&line, &space.free_bytes) && scan_i64(&line, &space.available_bytes)) {
			*ret_space = space;
			return 0;
		}
	}
	return -ENODATA;
}

static int space_of(const char *point, struct root *root, struct filesystem_space *ret_space)
{
	struct statvfs space;

	if (!root->live)
		return captured_space(root, point, ret_space);
	if (statvfs(point, &space) < 0)
		return -errno;
	*ret_space = (struct filesystem_space){
		.total_bytes = (int64_t)(space.f_blocks * space.f_frsize),
		.free_bytes = (int64_t)(space.f_bfree * space.f_frsize),
		.available_bytes = (int64_t)(space.f_bavail * space.f_frsize),
	};
	return 0;
}

int filesystem_read_space(const struct filesystem *filesystem, struct root *root,
			  struct filesystem_space *ret_space)
{
	struct filesystem_space space, other;
	int error = space_of(filesystem->mount_point, root, &space);

	if (error < 0)
		return error;
	/* Every dataset reports its pool's free space and its own use. */
	for (const char *at = filesystem->dataset_points; at && *at; at += strlen(at) + 1)
		if (space_of(at, root, &other) == 0)
			space.total_bytes += other.total_bytes - other.free_bytes;
	*ret_space = space;
	return 0;
}
