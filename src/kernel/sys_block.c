/*
 * /sys/class/block/NAME -> ../../devices/pci0000:00/0000:00:1f.2/ata1/.../block/sda/sda1
 *
 *   partition   1                        only partitions have it
 *   size        41943040                 in units of 512 bytes, whatever the device's own
 *   dev         8:1
 *   queue/rotational 0                   of the disk, not of a partition
 *   slaves/ holders/                     links to the devices below and above
 *   dm/name     vg-root                  only device mapper
 *   md/level    raid1                    only md
 *   device/model, device/vendor          of the disk's controller or SCSI device
 *
 * A slash in a device's name ("cciss/c0d0") is an exclamation mark here.
 */
#include "kernel/sys_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "base/scan.h"

enum { SECTOR_BYTES = 512, NAME_SIZE = 256, VPD_HEADER = 4, VPD_SERIAL_PAGE = 0x80 };

static int device_path(const char *name, const char *below, char *ret_path, size_t size)
{
	static const char FOLDER[] = "sys/class/block/";
	int length = snprintf(ret_path, size, "%s%s%s", FOLDER, name, below);

	if (!*name || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return -ENOENT;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	for (char *at = ret_path + sizeof FOLDER - 1; at < ret_path + sizeof FOLDER - 1 + strlen(name); at++)
		if (*at == '/')
			*at = '!';
	return 0;
}

int sys_block_is_partition(const struct root *root, const char *name)
{
	char path[NAME_SIZE];
	int error = device_path(name, "/partition", path, sizeof path);

	if (error < 0)
		return error;
	if (root_exists(root, path))
		return 1;
	path[strlen(path) - strlen("/partition")] = '\0';
	return root_exists(root, path) ? 0 : -ENOENT;
}

/* "loop" of "loop12", but not of "loopback0". */
static bool is_numbered_disk(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && name[length] >= '0' && name[length] <= '9';
}

static enum block_kind find_disk_kind(int dir_fd, const char *name)
{
	static const struct {
		const char *prefix;
		enum block_kind kind;
	} NAMES[] = {{"loop", BLOCK_LOOP},   {"ram", BLOCK_MEMORY},  {"zram", BLOCK_MEMORY},
		     {"nbd", BLOCK_NETWORK}, {"rbd", BLOCK_NETWORK}, {"sr", BLOCK_OPTICAL},
		     {"nvme", BLOCK_DISK},   {"ublkb", BLOCK_OTHER}};

	if (root_exists_at(dir_fd, "partition"))
		return BLOCK_PARTITION;
	if (root_exists_at(dir_fd, "dm"))
		return BLOCK_MAPPED;
	if (root_exists_at(dir_fd, "md"))
		return BLOCK_RAID;
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		if (is_numbered_disk(name, NAMES[i].prefix))
			return NAMES[i].kind;
	return root_exists_at(dir_fd, "device") ? BLOCK_DISK : BLOCK_OTHER;
}

static enum block_media find_media(struct root *root, int dir_fd, const char *name)
{
	int64_t rotational;

	if (is_numbered_disk(name, "nvme"))
		return MEDIA_NVME;
	if (root_read_i64_at(root, dir_fd, "queue/rotational", &rotational) < 0 &&
	    root_read_i64_at(root, dir_fd, "../queue/rotational", &rotational) < 0)
		return MEDIA_UNKNOWN;
	return rotational ? MEDIA_HDD : MEDIA_SSD;
}

static int count_names(int dir_fd, const char *path)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	int count = 0;

	if (root_dir_open_at(dir_fd, path, &dir) < 0)
		return 0;
	while (root_dir_next(&dir))
		count++;
	return count;
}

int parse_vpd_serial(const char *bytes, size_t length, char *ret_serial, size_t size)
{
	const unsigned char *header = (const unsigned char *)bytes;
	struct scan serial;
	size_t said;

	if (length <= VPD_HEADER || header[1] != VPD_SERIAL_PAGE)
		return -EBADMSG;
	said = (size_t)header[2] << 8 | header[3];
	if (said > length - VPD_HEADER)
		said = length - VPD_HEADER;
	serial = scan_trim(scan_bytes(bytes + VPD_HEADER, said));
	if (!scan_left(&serial))
		return -EBADMSG;
	scan_copy(&serial, ret_serial, size);
	return 0;
}

/* Some devices have other files for the same fact: MMC cards have a name instead of a model. */
static void read_model(struct root *root, int dir_fd, struct sys_block *block)
{
	if (root_read_word_at(root, dir_fd, "device/model", block->model, sizeof block->model) < 0)
		(void)root_read_word_at(root, dir_fd, "device/name", block->model, sizeof block->model);
	if (root_read_word_at(root, dir_fd, "device/vendor", block->vendor, sizeof block->vendor) == 0 &&
	    strncmp(block->vendor, "0x", 2) == 0)
		*block->vendor = '\0'; /* virtio: a number on its bus, meaningless to people */
}

static void read_device_number(struct root *root, int dir_fd, struct sys_block *block)
{
	ssize_t length = root_read_at(root, dir_fd, "dev");
	struct scan text;
	int64_t major, minor;

	if (length < 0)
		return;
	text = scan_bytes(root->text.data, (size_t)length);
	if (!scan_i64(&text, &major) || !scan_literal(&text, ":") || !scan_i64(&text, &minor))
		return;
	block->major = major;
	block->minor = minor;
}

bool sys_block_is_path(const char *name, char *ret_head, size_t size)
{
	struct scan text = scan_bytes(name, strlen(name));
	uint64_t subsystem, controller, space;

	if (!scan_literal(&text, "nvme") || !scan_u64(&text, &subsystem) || !scan_literal(&text, "c") ||
	    !scan_u64(&text, &controller) || !scan_literal(&text, "n") || !scan_u64(&text, &space) ||
	    scan_left(&text))
		return false;
	snprintf(ret_head, size, "nvme%llun%llu", (unsigned long long)subsystem, (unsigned long long)space);
	return true;
}

/* The folder above a partition's is its disk's: ".../block/sda/sda1". */
static void read_parent(const struct root *root, const char *path, struct sys_block *block)
{
	char target[4096];
	ssize_t length = root_link(root, path, target, sizeof target);
	struct scan left, name, parent = {NULL, NULL};

	if (length < 0)
		return;
	left = scan_bytes(target, (size_t)length);
	while (scan_until(&left, '/', &name))
		parent = name;
	if (!parent.at)
		return;
	scan_copy(&parent, block->parent, sizeof block->parent);
	for (char *at = block->parent; *at; at++)
		if (*at == '!')
			*at = '/';
}

RUNS_ONCE int read_sys_block(struct root *root, const char *name, struct sys_block *ret_block)
{
	char path[NAME_SIZE];
	struct sys_block block = {.size_bytes = -1, .major = -1, .minor = -1};
	int error = device_path(name, "", path, sizeof path);
	CLEANUP_CLOSE int dir_fd = error < 0 ? error : root_open_file(root, path, O_DIRECTORY);
	int64_t sectors;

	if (dir_fd < 0)
		return dir_fd;
	block.kind = find_disk_kind(dir_fd, name);
	block.media = find_media(root, dir_fd, name);
	if (root_read_i64_at(root, dir_fd, "size", &sectors) == 0 && sectors >= 0 &&
	    sectors <= INT64_MAX / SECTOR_BYTES)
		block.size_bytes = sectors * SECTOR_BYTES;
	block.slave_count = count_names(dir_fd, "slaves");
	block.holder_count = count_names(dir_fd, "holders");
	read_device_number(root, dir_fd, &block);
	(void)root_read_word_at(root, dir_fd, "dm/name", block.dm_name, sizeof block.dm_name);
	(void)root_read_word_at(root, dir_fd, "md/level", block.md_level, sizeof block.md_level);
	read_model(root, dir_fd, &block);
	if (block.kind == BLOCK_PARTITION)
		read_parent(root, path, &block);
	*ret_block = block;
	return 0;
}

int read_sys_block_serial(struct root *root, const char *name, char *ret_serial, size_t size)
{
	static const char *const FILES[] = {"serial", "device/serial", "wwid", "device/wwid"};
	char path[NAME_SIZE];
	int error = device_path(name, "", path, sizeof path);
	CLEANUP_CLOSE int dir_fd = error < 0 ? error : root_open_file(root, path, O_DIRECTORY);
	ssize_t length;

	if (dir_fd < 0)
		return dir_fd;
	length = root_read_at(root, dir_fd, "device/vpd_pg80");
	if (length > 0 && parse_vpd_serial(root->text.data, (size_t)length, ret_serial, size) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(FILES); i++)
		if (root_read_word_at(root, dir_fd, FILES[i], ret_serial, size) == 0 && *ret_serial)
			return 0;
	return -ENOENT;
}
