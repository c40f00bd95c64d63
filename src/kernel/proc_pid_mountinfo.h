/* /proc/PID/mountinfo: the mounts that one process sees. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

/* All text points into the parsed bytes and still has the kernel's escapes (\040). See mount_text(). */
struct mount {
	int64_t id;
	int64_t parent_id;
	uint32_t major; /* of the filesystem's device, or 0 for those without one (tmpfs, nfs, btrfs, zfs) */
	uint32_t minor;
	struct scan
		root; /* the part of the filesystem that is mounted: not "/" for a bind mount or subvolume */
	struct scan point;   /* where, seen from the process's root */
	struct scan type;    /* "ext4", "fuse.sshfs" */
	struct scan source;  /* "/dev/mapper/vg-root", "pool/dataset"; may be empty */
	struct scan options; /* of the filesystem: "rw,subvol=/@home", "rw,memory" */
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan mounts = parse_proc_pid_mountinfo(bytes, length);
 *   while (proc_pid_mountinfo_next(&mounts, &mount))
 */
struct scan parse_proc_pid_mountinfo(const char *bytes, size_t length);

/*
 * The kept file is usually KEPT_FILE("proc/self/mountinfo"). Its descriptor can be polled for POLLPRI, which
 * reports changed mounts. ret_mounts points into root->text: valid until the next read.
 */
int read_proc_pid_mountinfo(struct root *root, struct kept_file *file, struct scan *ret_mounts);

/* Finds the first of this process's mounts that is wanted. ret_mount points into root->text: valid until the next read. */
bool find_own_mount(struct root *root, bool (*is_wanted)(const struct mount *), struct mount *ret_mount);

/* Returns the next mount. Invalid lines are skipped. */
bool proc_pid_mountinfo_next(struct scan *mounts, struct mount *ret_mount);

/*
 * Decodes the octal escapes of a mount's text into a NUL-terminated array, cutting what does not fit. Returns
 * the decoded length before cutting, which never exceeds that of the text.
 */
size_t mount_text(const struct scan *text, char *ret_text, size_t size);

/* Whether a comma-separated list contains an option ("memory" in "rw,memory"). */
bool mount_has_option(const struct mount *mount, const char *option);

/*
 * Whether a program or another machine serves the filesystem, even if it looks like a disk: each use may hang for ever. A
 * type without a block device that is unknown here counts as served.
 */
bool mount_is_served(const struct mount *mount);

/* Whether the type alone tells that the mount of a line is not served. Reading all columns costs ten times as much. */
bool mount_line_is_kernels(const struct scan *line);
