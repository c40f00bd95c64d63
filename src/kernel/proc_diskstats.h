/* /proc/diskstats: I/O of every block device, partitions included. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

/* Points into the parsed text. */
struct diskstats_device {
	uint32_t major;
	uint32_t minor;
	struct scan name; /* "cciss/c0d0" contains a slash */
	struct scan counters;
};

/*
 * Since boot (or since the device appeared), -1 if absent. The file counts sectors of 512 bytes, whatever the
 * device's own sector size. Here they are bytes.
 */
struct diskstats {
	int64_t reads;
	int64_t read_bytes;
	int64_t read_ms; /* summed over requests: can exceed wall time */
	int64_t writes;
	int64_t write_bytes;
	int64_t write_ms;
	int64_t in_flight;
	int64_t busy_ms;       /* wall time with at least one request in flight */
	int64_t weighted_ms;   /* in_flight integrated over time */
	int64_t discard_bytes; /* since Linux 4.18 */
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan disks = parse_proc_diskstats(bytes, length);
 *   while (proc_diskstats_next(&disks, &device))
 *           if (wanted(&device.name) && parse_diskstats(&device.counters, &stats) == 0)
 */
struct scan parse_proc_diskstats(const char *bytes, size_t length);
/* ret_disks points into root->text: valid until the next read. Returns 0 or a negative errno. */
int read_proc_diskstats(struct root *root, struct kept_file *file, struct scan *ret_disks);

/* The next device. Lines without numbers and a name are skipped. */
bool proc_diskstats_next(struct scan *disks, struct diskstats_device *ret_device);

/*
 * Parses the counters of a device apart from its name, because most lines are of devices that the caller leaves
 * out. -EBADMSG below eleven columns.
 */
int parse_diskstats(const struct scan *counters, struct diskstats *ret_stats);
