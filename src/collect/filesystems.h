/*
 * Finds the real filesystems of a machine, each once, however often it is mounted.
 *
 * Mounts are read again only when the kernel reports a change (poll). Bind mounts share a device, subvolumes
 * of btrfs share a source, and datasets of ZFS share a pool. Network, FUSE and automounted filesystems are
 * left out because asking them may hang. Images (squashfs, iso9660), filesystems in memory and the kernel's
 * own are left out, too.
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
	char *source;    /* "/dev/sda1", "pool/dataset", "overlay" */
	char device[64]; /* its whole block device, as in /proc/diskstats, "" if unknown to the caller */
	uint32_t major;
	uint32_t minor;
	bool is_loop;         /* an image in a file of another filesystem */
	char *dataset_points; /* ZFS: other mount points of the pool, each NUL-terminated, then an empty one */
};

struct filesystem_space {
	int64_t total_bytes;
	int64_t free_bytes;      /* including reserved blocks */
	int64_t available_bytes; /* for ordinary users */
};

struct filesystems {
	struct kept_file mountinfo;
	bool known;
	struct filesystem *all;
	size_t count;
};

#define FILESYSTEMS ((struct filesystems){.mountinfo = KEPT_FILE("proc/self/mountinfo")})

/*
 * Reads the mounts again if they have changed since the last call. Returns 1 if they have, 0 if not, or a
 * negative errno.
 */
int filesystems_refresh(struct filesystems *filesystems, struct root *root);
void filesystems_done(struct filesystems *filesystems);

/*
 * Calls statvfs(3). Below a captured root, reads the file ".statvfs" instead ("/mount/point total free
 * available" in bytes, one line each). Returns 0 or a negative errno.
 */
int filesystem_read_space(const struct filesystem *filesystem, struct root *root,
			  struct filesystem_space *ret_space);
