/* /proc/spl/kstat/zfs/arcstats: the cache of ZFS (ARC), which is in no figure of /proc/meminfo but what is used. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* -1: absent. The kernel can take back all but min_bytes. */
struct spl_zfs_arcstats {
	int64_t size_bytes;
	int64_t min_bytes;
};

/* Returns 0, or -EBADMSG if no line is known (ret_arcstats is then untouched). */
int parse_spl_zfs_arcstats(const char *bytes, size_t length, struct spl_zfs_arcstats *ret_arcstats);
int read_spl_zfs_arcstats(struct root *root, struct kept_file *file, struct spl_zfs_arcstats *ret_arcstats);
