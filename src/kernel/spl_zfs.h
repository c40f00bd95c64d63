/*
 * /proc/spl/kstat/zfs: statistics of the ZFS module.
 *
 * They hold I/O per dataset, the state of a pool and the size of its cache. The size of a pool comes from
 * statvfs of the mounted datasets: their used space adds up, and their free space is the pool's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* One dataset since the pool was imported, as applications see it (before compression and copies). -1 absent.
 */
struct spl_zfs_objset {
	char dataset[256]; /* "pool/home/user" */
	int64_t reads;
	int64_t read_bytes;
	int64_t writes;
	int64_t write_bytes;
};

/* The sum over the mounted datasets of one pool. */
struct spl_zfs_pool {
	char state[16]; /* "ONLINE", "DEGRADED" ...; "" before ZFS 0.8 */
	int dataset_count;
	int64_t read_bytes;
	int64_t write_bytes;
};

/* Memory of the ZFS cache. The kernel counts it as used, although min_bytes .. size_bytes can be freed. */
struct spl_zfs_arcstats {
	int64_t size_bytes;
	int64_t min_bytes;
	int64_t max_bytes;
};

/* Return 0, or -EBADMSG if no line is known (the result is then untouched). */
int parse_spl_zfs_objset(const char *bytes, size_t length, struct spl_zfs_objset *ret_objset);
int parse_spl_zfs_arcstats(const char *bytes, size_t length, struct spl_zfs_arcstats *ret_arcstats);

/* Lists the pools. Returns 0, or -ENOENT if no ZFS module is loaded. */
int spl_zfs_open_pools(const struct root *root, struct root_dir *ret_pools);
const char *spl_zfs_next_pool(const struct root *root, struct root_dir *pools);

int read_spl_zfs_pool(struct root *root, const char *pool, struct spl_zfs_pool *ret_pool);
int read_spl_zfs_arcstats(struct root *root, struct spl_zfs_arcstats *ret_arcstats);
