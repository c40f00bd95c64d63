/*
 * /proc/diskstats
 *
 *    8       0 sda 51942 9134 2892402 13655 15284 7492 2231200 4678 0 7404 18702 4112 100 519792 309 1649 59
 *    8       1 sda1 51902 9134 2890802 13640 15280 7492 2231200 4670 0 7400 18700
 */
#include "kernel/proc_diskstats.h"

#include <errno.h>

enum { SECTOR_BYTES = 512 };

/* The counters after the name. Discards came with Linux 4.18. */
enum column {
	READS,
	READS_MERGED,
	SECTORS_READ,
	READ_MS,
	WRITES,
	WRITES_MERGED,
	SECTORS_WRITTEN,
	WRITE_MS,
	IN_FLIGHT,
	BUSY_MS,
	WEIGHTED_MS,
	COLUMNS_ALWAYS,
	DISCARDS = COLUMNS_ALWAYS,
	DISCARDS_MERGED,
	SECTORS_DISCARDED,
	COLUMNS
};

struct scan parse_proc_diskstats(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static int scan_disk_columns(struct scan line, int64_t columns[COLUMNS])
{
	int count = 0;

	while (count < COLUMNS && scan_count(&line, &columns[count]))
		count++;
	for (int i = count; i < COLUMNS; i++)
		columns[i] = -1;
	return count;
}

static int64_t sectors_to_bytes(int64_t sectors)
{
	return sectors < 0 || sectors > INT64_MAX / SECTOR_BYTES ? -1 : sectors * SECTOR_BYTES;
}

bool proc_diskstats_next(struct scan *disks, struct diskstats_device *ret_device)
{
	struct scan line, name;

	while (scan_line(disks, &line)) {
		uint64_t major, minor;

		if (!scan_u64(&line, &major) || !scan_u64(&line, &minor) || !scan_word(&line, &name) ||
		    major > UINT32_MAX || minor > UINT32_MAX)
			continue;
		*ret_device = (struct diskstats_device){(uint32_t)major, (uint32_t)minor, name, line};
		return true;
	}
	return false;
}

int parse_diskstats(const struct scan *counters, struct diskstats *ret_stats)
{
	int64_t columns[COLUMNS];

	if (scan_disk_columns(*counters, columns) < COLUMNS_ALWAYS)
		return -EBADMSG;
	*ret_stats = (struct diskstats){
		.reads = columns[READS],
		.read_bytes = sectors_to_bytes(columns[SECTORS_READ]),
		.read_ms = columns[READ_MS],
		.writes = columns[WRITES],
		.write_bytes = sectors_to_bytes(columns[SECTORS_WRITTEN]),
		.write_ms = columns[WRITE_MS],
		.in_flight = columns[IN_FLIGHT],
		.busy_ms = columns[BUSY_MS],
		.weighted_ms = columns[WEIGHTED_MS],
		.discard_bytes = sectors_to_bytes(columns[SECTORS_DISCARDED]),
	};
	return 0;
}

int read_proc_diskstats(struct root *root, struct kept_file *file, struct scan *ret_disks)
{
	ssize_t length = root_reread(root, file);

	if (length < 0)
		return (int)length;
	*ret_disks = parse_proc_diskstats(root->text.data, (size_t)length);
	return 0;
}
