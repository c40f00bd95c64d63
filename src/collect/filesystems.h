/*
 * The real filesystems of a machine: each one once, however often it is mounted.
 *
 * Mounts are read again only when the kernel says that they have changed (poll). Bind mounts are the same
 * device, subvolumes of btrfs the same source, datasets of ZFS one pool. Network, FUSE and automounted filesystems
 * are left out: asking them may hang. So are images (squashfs, iso9660), memory and the kernel's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/proc_pid_mountinfo.h"
#include "kernel/root.h"

struct filesystem {
	char *mount_point;
	char type[32];
	char *source; /* "/dev/sda1", "pool/dataset", "overlay" */
	char device
		[64]; /* whole block device that it lies on, as in /proc/diskstats; "": the caller knows none */
	uint32_t major;
	uint32_t minor;
	bool is_loop;         /* an image in a file of another filesystem */
	char *dataset_points; /* ZFS: other mount points of the pool, each NUL-terminated, then an empty one */
};

struct filesystem_space {
	int64_t total_bytes;
	int64_t free_bytes;      /* of it, reserved blocks included */
	int64_t available_bytes; /* for ordinary users */
};

struct filesystems {
	struct kept_file mountinfo;
	bool known;
	struct filesystem *all;
	size_t count;
};

#define FILESYSTEMS ((struct filesystems){.mountinfo = KEPT_FILE("proc/self/mountinfo")})

/* Reads the mounts again if they have changed since the last call. Returns 1 if they had, 0, or a negative errno. */
int filesystems_refresh(struct filesystems *filesystems, struct root *root);
void filesystems_done(struct filesystems *filesystems);

/*
 * statvfs(3), or, below a captured root, what its file ".statvfs" says ("/mount/point total free available" in
 * bytes, a line each). Returns 0 or a negative errno.
 */
int filesystem_read_space(const struct filesystem *filesystem, struct root *root,
			  struct filesystem_space *ret_space);
