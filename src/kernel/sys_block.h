/* /sys/class/block/NAME: the kind and the names of a block device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"

enum block_kind {
	BLOCK_OTHER,     /* virtual and none of the below: zvol, bcache, drbd, ublk, null_blk */
	BLOCK_DISK,      /* a device of its own: sda, nvme0n1, vda, mmcblk0 */
	BLOCK_PARTITION, /* sda1, nvme0n1p2, dm partitions excepted: those are mapped */
	BLOCK_MAPPED,    /* device mapper: LVM, dm-crypt, multipath */
	BLOCK_RAID,      /* md */
	BLOCK_LOOP,
	BLOCK_MEMORY,  /* ram, zram */
	BLOCK_NETWORK, /* nbd, rbd */
	BLOCK_OPTICAL, /* sr */
};

enum block_media { MEDIA_UNKNOWN, MEDIA_HDD, MEDIA_SSD, MEDIA_NVME };

/* Texts are "" and numbers -1 if the device lacks them. */
struct sys_block {
	enum block_kind kind;
	enum block_media
		media; /* as the kernel reports it: many virtual machines report every disk as an HDD */
	int64_t size_bytes;
	int64_t major;
	int64_t minor;
	int slave_count;  /* devices below this one (LVM volume -> disks) */
	int holder_count; /* devices above this one */
	char parent[64];  /* of a partition: its disk, spelt as in /proc/diskstats */
	char model[128];
	char vendor[64];
	char dm_name[128]; /* "vg-root": /dev/mapper/NAME */
	char md_level[16]; /* "raid1" */
};

/*
 * name is spelt as in /proc/diskstats ("cciss/c0d0"). Returns 0, or a negative errno when sysfs does not know
 * the device (ret_block is then untouched).
 */
int read_sys_block(struct root *root, const char *name, struct sys_block *ret_block);

/*
 * The serial number, else the world-wide id. Reading it may be a request to the device that takes milliseconds
 * (virtio), which is why it is not part of the above. Returns 0 or a negative errno.
 */
int read_sys_block_serial(struct root *root, const char *name, char *ret_serial, size_t size);

/* Whether this is a hidden path of NVMe: "nvme0c1n2" leads to "nvme0n2", its head. */
bool sys_block_is_path(const char *name, char *ret_head, size_t size);

/* 1 for a partition, 0 for another block device, -ENOENT for any other name. */
int sys_block_is_partition(const struct root *root, const char *name);

/*
 * Whether the I/O of this device is counted by no other device, so that summing such devices counts every byte
 * once:
 *
 *   device              where the kernel counts a byte                              leaf
 *   sda, vda, mmcblk0   there                                                       sda
 *   sda1                there and at the disk                                       sda
 *   nvme0c0n1, nvme0n1  at the path, since Linux 6.4 at the head as well            one of the two
 *   dm-0, md0, bcache0  there and at the devices below (slaves)                     those below
 *   drbd0, zd0          there and at disks to which /sys has no link                those disks
 *   loop0, ublkb0       there and where its file or its server has the data         the disk there
 *   zram0, ram0         there, but it is memory                                     none
 *   nbd0, rbd0          there; the data is on another machine                       nbd0
 */
static inline bool sys_block_is_leaf(const struct sys_block *block)
{
	return block->slave_count == 0 &&
	       (block->kind == BLOCK_DISK || block->kind == BLOCK_NETWORK || block->kind == BLOCK_OPTICAL);
}

/*
 * The serial number in SCSI vital product data (page 0x80: device/vpd_pg80), trimmed. Returns 0, or -EBADMSG
 * when there is none.
 */
int parse_vpd_serial(const char *bytes, size_t length, char *ret_serial, size_t size);
