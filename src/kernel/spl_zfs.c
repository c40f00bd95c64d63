/*
 * /proc/spl/kstat/zfs/POOL/objset-0x36
 *
 *   23 1 0x01 7 2160 221578688875 6665999035587
 *   name                            type data
 *   dataset_name                    7    tank/home
 *   writes                          4    12
 *   nwritten                        4    49152
 *   reads                           4    3
 *   nread                           4    12288
 *
 * /proc/spl/kstat/zfs/POOL/state: ONLINE
 * /proc/spl/kstat/zfs/arcstats: the same columns, "size  4  1073741824"
 */
#include "kernel/spl_zfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"

#define FOLDER "proc/spl/kstat/zfs"

enum { PATH_SIZE = 600 };

/* A line of name, type and data; data may hold blanks. */
static bool scan_statistic(struct scan *line, struct scan *ret_name, struct scan *ret_data)
{
	struct scan type;

	if (!scan_word(line, ret_name) || !scan_word(line, &type))
		return false;
	*ret_data = scan_trim(*line);
	return scan_left(ret_data) > 0;
}

static bool scan_number(struct scan data, int64_t *ret_value)
{
	uint64_t value;

	if (!scan_u64(&data, &value) || scan_left(&data) || value > INT64_MAX)
		return false;
	*ret_value = (int64_t)value;
	return true;
}

int parse_spl_zfs_objset(const char *bytes, size_t length, struct spl_zfs_objset *ret_objset)
{
	struct scan text = scan_bytes(bytes, length), line, name, data;
	struct spl_zfs_objset objset = {.reads = -1, .read_bytes = -1, .writes = -1, .write_bytes = -1};
	int known = 0;

	while (scan_line(&text, &line)) {
		if (!scan_statistic(&line, &name, &data))
			continue;
		if (scan_is(&name, "dataset_name")) {
			scan_copy(&data, objset.dataset, sizeof objset.dataset);
			known++;
		} else if (scan_is(&name, "reads")) {
			known += scan_number(data, &objset.reads);
		} else if (scan_is(&name, "nread")) {
			known += scan_number(data, &objset.read_bytes);
		} else if (scan_is(&name, "writes")) {
			known += scan_number(data, &objset.writes);
		} else if (scan_is(&name, "nwritten")) {
			known += scan_number(data, &objset.write_bytes);
		}
	}
	if (!known)
		return -EBADMSG;
	*ret_objset = objset;
	return 0;
}

int parse_spl_zfs_arcstats(const char *bytes, size_t length, struct spl_zfs_arcstats *ret_arcstats)
{
	struct scan text = scan_bytes(bytes, length), line, name, data;
	struct spl_zfs_arcstats arcstats = {-1, -1, -1};
	int known = 0;

	while (scan_line(&text, &line)) {
		if (!scan_statistic(&line, &name, &data))
			continue;
		if (scan_is(&name, "size"))
			known += scan_number(data, &arcstats.size_bytes);
		else if (scan_is(&name, "c_min"))
			known += scan_number(data, &arcstats.min_bytes);
		else if (scan_is(&name, "c_max"))
			known += scan_number(data, &arcstats.max_bytes);
	}
	if (!known)
		return -EBADMSG;
	*ret_arcstats = arcstats;
	return 0;
}

int spl_zfs_open_pools(const struct root *root, struct root_dir *ret_pools)
{
	return root_dir_open(root, FOLDER, ret_pools);
}

/* Statistics of the whole module are files beside the pools' folders. */
const char *spl_zfs_next_pool(const struct root *root, struct root_dir *pools)
{
	char path[PATH_SIZE];
	const char *name;

	while ((name = root_dir_next(pools))) {
		int length = snprintf(path, sizeof path, FOLDER "/%s/.", name);

		if (length > 0 && (size_t)length < sizeof path && root_exists(root, path))
			return name;
	}
	return NULL;
}

static void add_counter(int64_t *sum, int64_t value)
{
	if (value >= 0 && *sum <= INT64_MAX - value)
		*sum += value;
}

int read_spl_zfs_pool(struct root *root, const char *pool, struct spl_zfs_pool *ret_pool)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	CLEANUP_CLOSE int dir_fd = -1;
	char path[PATH_SIZE];
	struct spl_zfs_pool sum = {0};
	int length = snprintf(path, sizeof path, FOLDER "/%s", pool);
	const char *name;
	int error;

	if (length < 0 || (size_t)length >= sizeof path)
		return -ENAMETOOLONG;
	dir_fd = root_open_file(root, path, O_DIRECTORY);
	if (dir_fd < 0)
		return dir_fd;
	error = root_dir_open_at(dir_fd, ".", &dir);
	if (error < 0)
		return error;
	(void)root_read_word_at(root, dir_fd, "state", sum.state, sizeof sum.state);
	while ((name = root_dir_next(&dir))) {
		struct spl_zfs_objset objset;
		ssize_t got;

		if (strncmp(name, "objset-", 7) != 0)
			continue;
		got = root_read_at(root, dir_fd, name);
		if (got < 0 || parse_spl_zfs_objset(root->text.data, (size_t)got, &objset) < 0)
			continue;
		sum.dataset_count++;
		add_counter(&sum.read_bytes, objset.read_bytes);
		add_counter(&sum.write_bytes, objset.write_bytes);
	}
	*ret_pool = sum;
	return 0;
}

int read_spl_zfs_arcstats(struct root *root, struct spl_zfs_arcstats *ret_arcstats)
{
	ssize_t length = root_read(root, FOLDER "/arcstats");

	return length < 0 ? (int)length
			  : parse_spl_zfs_arcstats(root->text.data, (size_t)length, ret_arcstats);
}
