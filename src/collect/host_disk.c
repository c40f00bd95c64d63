/*
 * Disks and filesystems: /proc/diskstats and statvfs(3) at every tick, descriptions of devices from
 * /sys/block when they appear.
 *
 * Every whole device has a row. Totals add up leaf physical devices only, so LVM, dm-crypt and RAID are not
 * counted on top of their disks (sys_block_is_leaf() has the table). A filesystem without a visible device (overlay, ZFS) has a row with nothing
 * but its space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/filesystems.h"
#include "kernel/proc_diskstats.h"
#include "kernel/sys_block.h"
#include "metric/typed_rows.h"

enum { DEVICE_NAME_SIZE = 64 };

#define SERIALS_AFTER_NS (50 * NSEC_PER_MSEC)

struct known_disk {
	char name[DEVICE_NAME_SIZE];
	uint32_t major;
	uint32_t minor;
	struct sys_block identity;
	char serial[128];
	bool serial_read;
	int error;
	bool shown;
	bool counted;
	bool seen;                   /* in this tick */
	struct scan counters;        /* in this tick's text */
	char head[DEVICE_NAME_SIZE]; /* of a path of NVMe. "": it is none */
	bool behind_head;            /* and that is here in this tick */
	struct diskstats paths;      /* of a head: the sums of its paths */
	uint32_t path_count;
};

struct host_disk {
	struct kept_file diskstats;
	struct filesystems filesystems;
	struct known_disk *known; /* in the order of /proc/diskstats, while that stays the same */
	size_t count;
	bool has_paths;       /* one of them is a path to another */
	bool serials_read;    /* for all known disks */
	bool devices_changed; /* since filesystems were last matched with devices */
};

static int host_disk_open(struct collect_context *context, void **ret_state)
{
	struct host_disk *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	state->diskstats = KEPT_FILE("proc/diskstats");
	state->filesystems = FILESYSTEMS;
	*ret_state = state;
	return 0;
}

static struct known_disk *find_known_disk(struct host_disk *state, const struct scan *name, size_t guess)
{
	if (guess < state->count && scan_is(name, state->known[guess].name))
		return &state->known[guess];
	for (size_t i = 0; i < state->count; i++)
		if (scan_is(name, state->known[i].name))
			return &state->known[i];
	return NULL;
}

static struct known_disk *add_known_disk(struct host_disk *state, const struct diskstats_device *disk)
{
	struct known_disk *known = realloc(state->known, (state->count + 1) * sizeof *known);

	if (!known)
		return NULL;
	state->known = known;
	known = &state->known[state->count++];
	*known = (struct known_disk){.error = -EINPROGRESS, .major = disk->major, .minor = disk->minor};
	scan_copy(&disk->name, known->name, sizeof known->name);
	state->has_paths |= sys_block_is_path(known->name, known->head, sizeof known->head);
	return known;
}

static bool disk_is_shown(const struct known_disk *known)
{
	if (known->error)
		return false;
	switch (known->identity.kind) {
	case BLOCK_PARTITION:
	case BLOCK_LOOP:
	case BLOCK_MEMORY:
		return false;
	case BLOCK_NETWORK:
	case BLOCK_OPTICAL:
		/* Device nodes without a device behind them have no size. */
		return known->identity.size_bytes > 0;
	default:
		return true;
	}
}

/* Loop devices and memory. There may be many, and their names say enough. */
static bool is_never_shown(const char *name)
{
	static const char *const PREFIXES[] = {"loop", "ram", "zram", NULL};

	for (const char *const *prefix = PREFIXES; *prefix; prefix++) {
		size_t length = strlen(*prefix);

		if (strncmp(name, *prefix, length) == 0 && name[length] >= '0' && name[length] <= '9')
			return true;
	}
	return false;
}

static void identify_disk(struct known_disk *known, struct root *root)
{
	if (is_never_shown(known->name)) {
		known->error = 0;
		return;
	}
	known->error = read_sys_block(root, known->name, &known->identity);
	known->shown = disk_is_shown(known);
	known->counted = known->shown && sys_block_is_leaf(&known->identity);
}

static const char *disk_text_or_none(struct frame *frame, const char *text)
{
	return *text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_A_VALUE);
}

static void fill_disk_identity(struct frame *frame, struct disk_row *row, const struct known_disk *known)
{
	static const char *const MEDIA[] = {[MEDIA_HDD] = "hdd", [MEDIA_SSD] = "ssd", [MEDIA_NVME] = "nvme"};
	const struct sys_block *identity = &known->identity;

	row->model = disk_text_or_none(frame, identity->model);
	row->vendor = disk_text_or_none(frame, identity->vendor);
	row->serial = known->serial_read ? disk_text_or_none(frame, known->serial) : no_text(ABSENT_NOT_YET);
	row->device_type =
		identity->media == MEDIA_UNKNOWN ? no_text(ABSENT_NOT_A_VALUE) : MEDIA[identity->media];
	/* An empty drive has an unknown capacity, not a capacity of 0. */
	row->capacity_bytes = identity->size_bytes > 0 ? identity->size_bytes : no_count(ENOMEDIUM);
	row->counted = known->counted;
}

/* Another device has a known name: its medium, numbers and counters are new. */
static void begin_disk_again(struct known_disk *known, const struct diskstats_device *disk)
{
	known->major = disk->major;
	known->minor = disk->minor;
	known->error = -EINPROGRESS;
	known->shown = known->counted = known->serial_read = false;
	known->identity = (struct sys_block){0};
	known->serial[0] = '\0';
}

/* Reads the list of devices, and where in the text each has its counters. */
static int read_host_disks(struct host_disk *state, struct root *root, bool *ret_any_unknown)
{
	struct scan disks;
	struct diskstats_device disk;
	size_t position = 0;
	int error;

	*ret_any_unknown = false;
	/* The text is overwritten now: pointers into the old one are invalid. */
	for (size_t i = 0; i < state->count; i++)
		state->known[i].seen = false;
	error = read_proc_diskstats(root, &state->diskstats, &disks);
	if (error < 0)
		return error;
	while (proc_diskstats_next(&disks, &disk)) {
		struct known_disk *known = find_known_disk(state, &disk.name, position++);

		if (!known)
			known = add_known_disk(state, &disk);
		if (!known)
			continue;
		if (known->major != disk.major || known->minor != disk.minor)
			begin_disk_again(known, &disk);
		*ret_any_unknown |= known->error == -EINPROGRESS;
		known->seen = true;
		known->counters = disk.counters;
	}
	return 0;
}

static void forget_gone_disks(struct host_disk *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->count; i++)
		if (state->known[i].seen)
			state->known[kept++] = state->known[i];
	state->count = kept;
}

/* Reads the descriptions of new devices. Overwrites the buffer into which earlier readings point. */
static bool identify_new(struct host_disk *state, struct root *root)
{
	bool any = false;

	for (size_t i = 0; i < state->count; i++) {
		if (state->known[i].error != -EINPROGRESS)
			continue;
		identify_disk(&state->known[i], root);
		any = true;
	}
	state->devices_changed |= any;
	if (any)
		state->serials_read = false;
	return any;
}

/*
 * Reads serial numbers. For a virtual disk this is a request to the host and may take milliseconds, so it
 * must delay neither the start of a job nor the end of a short one.
 */
static void read_serials(struct host_disk *state, struct collect_context *context, int64_t now_ns)
{
	if (state->serials_read || now_ns - context->progress.started_ns < SERIALS_AFTER_NS ||
	    context->ending->reason)
		return;
	state->serials_read = true;
	for (size_t i = 0; i < state->count; i++) {
		struct known_disk *known = &state->known[i];

		if (!known->shown || known->serial_read)
			continue;
		known->serial_read = true;
		(void)read_sys_block_serial(context->root, known->name, known->serial, sizeof known->serial);
	}
}

static void host_disk_prepare(void *state_, struct collect_context *context)
{
	(void)identify_new(state_, context->root);
}

static void disk_identity_unknown(struct disk_row *row)
{
	row->model = row->vendor = row->serial = row->device_type = no_text(ABSENT_NOT_YET);
	row->capacity_bytes = row->counted = no_count(ABSENT_NOT_YET);
}

static struct disk_row *add_disk(struct frame *frame, const struct diskstats *stats,
				 const struct known_disk *known)
{
	struct disk_row *row = ADD_ROW(frame, disk, NULL);

	row->device = frame_text(frame, known->name, strlen(known->name));
	row->read_bytes_total = stats->read_bytes < 0 ? no_count(EBADMSG) : stats->read_bytes;
	row->write_bytes_total = stats->write_bytes < 0 ? no_count(EBADMSG) : stats->write_bytes;
	row->read_bytes_counter = row->read_bytes_total;
	row->write_bytes_counter = row->write_bytes_total;
	if (known->error == -EINPROGRESS)
		disk_identity_unknown(row);
	else
		fill_disk_identity(frame, row, known);
	return row;
}

/* The counters of another device with this name, or of other paths, go on from elsewhere. */
static void set_counters(struct disk_row *row, const struct known_disk *known, bool by_paths, int64_t read_ns)
{
	row->row.read_ns = read_ns;
	row->row.number = (int)(known->major << 20 ^ known->minor ^ (by_paths ? known->path_count : 0) << 12);
}

static struct known_disk *find_by_name(const struct host_disk *state, const char *name)
{
	for (size_t i = 0; i < state->count; i++)
		if (strcmp(state->known[i].name, name) == 0)
			return &state->known[i];
	return NULL;
}

static int64_t sum_or_unknown(int64_t a, int64_t b)
{
	int64_t sum;

	return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

/*
 * NVMe with several paths: the head has the row, and the hidden paths have none. Linux before 6.4 counts at the paths
 * alone: their sum stands for a head that has counted nothing.
 */
static void sum_paths(struct host_disk *state)
{
	struct diskstats stats;

	for (size_t i = 0; i < state->count; i++)
		state->known[i].path_count = 0, state->known[i].paths = (struct diskstats){0};
	for (size_t i = 0; i < state->count; i++) {
		struct known_disk *path = &state->known[i];
		struct known_disk *head = *path->head ? find_by_name(state, path->head) : NULL;

		path->behind_head = head;
		if (!head || parse_diskstats(&path->counters, &stats) < 0)
			continue;
		head->path_count++;
		head->paths.read_bytes = sum_or_unknown(head->paths.read_bytes, stats.read_bytes);
		head->paths.write_bytes = sum_or_unknown(head->paths.write_bytes, stats.write_bytes);
	}
}

static void fill_disks(struct host_disk *state, struct collect_context *context, struct frame *frame)
{
	struct diskstats stats;
	bool any_unknown, by_paths;
	int64_t read_ns;
	int error;

	read_serials(state, context, frame->monotonic_ns);
	error = read_host_disks(state, context->root, &any_unknown);
	/* A baseline needs counters only, and the end of a short job must not wait for descriptions. */
	if (!error && any_unknown && context->prepared && identify_new(state, context->root))
		error = read_host_disks(state, context->root, &any_unknown);
	if (error < 0) {
		frame_set_missing(frame, ROW_disk, error);
		return;
	}
	forget_gone_disks(state);
	/* The machine has no disk, or this file is not the kernel's: what was read and written is unknown. */
	if (!state->count)
		frame_set_missing(frame, ROW_disk, -ENODEV);
	if (state->has_paths)
		sum_paths(state);
	read_ns = root_monotonic_ns(context->root);
	for (size_t i = 0; i < state->count; i++) {
		const struct known_disk *known = &state->known[i];

		bool is_new = known->error == -EINPROGRESS;

		if (known->behind_head || (!known->shown && !known->error) ||
		    (is_new && is_never_shown(known->name)))
			continue;
		error = parse_diskstats(&known->counters, &stats);
		if (error < 0) {
			frame_set_missing(frame, ROW_disk, error);
			continue;
		}
		by_paths = !stats.read_bytes && !stats.write_bytes;
		if (by_paths)
			stats = known->paths;
		if (known->shown || is_new)
			set_counters(add_disk(frame, &stats, known), known, by_paths, read_ns);
		/* It may be a disk or a part of one, so the sum over the disks is unknown. */
		else if (stats.read_bytes || stats.write_bytes)
			frame_set_missing(frame, ROW_disk, known->error);
	}
}

/* Returns the row of the device that holds a filesystem. Adds a row if that device is not shown. */
static struct row *device_row(struct frame *frame, const struct filesystem *filesystem)
{
	struct disk_row *row;

	const char *source = filesystem->source + (strncmp(filesystem->source, "/dev/", 5) == 0 ? 5 : 0);
	const char *name = *filesystem->device ? filesystem->device : source;

	for (struct row *at = frame->first[ROW_disk]; at; at = at->next)
		if (strcmp(((struct disk_row *)(void *)at)->device, name) == 0)
			return at;
	row = ADD_ROW(frame, disk, NULL);
	/* Use the kernel's name, as for other devices. */
	row->device = frame_text(frame, source, strlen(source));
	row->counted = 0;
	return &row->row;
}

/*
 * Finds a device by "/dev/sda1" or "/dev/mapper/vg-home": for filesystems without a device number of their
 * own (btrfs).
 */
static const struct known_disk *find_by_source(const struct host_disk *state, const char *source)
{
	static const char DEV[] = "/dev/", MAPPER[] = "/dev/mapper/";

	if (strncmp(source, MAPPER, sizeof MAPPER - 1) == 0)
		for (size_t i = 0; i < state->count; i++)
			if (strcmp(state->known[i].identity.dm_name, source + sizeof MAPPER - 1) == 0)
				return &state->known[i];
	return strncmp(source, DEV, sizeof DEV - 1) == 0 ? find_by_name(state, source + sizeof DEV - 1)
							 : NULL;
}

static const struct known_disk *find_by_number(const struct host_disk *state, uint32_t major, uint32_t minor)
{
	/* Names such as /dev/root exist nowhere else. The device number identifies the disk. */
	for (size_t i = 0; major && i < state->count; i++)
		if (state->known[i].major == major && state->known[i].minor == minor)
			return &state->known[i];
	return NULL;
}

/* Finds the whole device of each filesystem. */
static void match_devices(struct host_disk *state)
{
	for (size_t i = 0; i < state->filesystems.count; i++) {
		struct filesystem *filesystem = &state->filesystems.all[i];
		const struct known_disk *disk = find_by_number(state, filesystem->major, filesystem->minor);

		if (!disk)
			disk = find_by_source(state, filesystem->source);
		if (disk && disk->identity.kind == BLOCK_PARTITION)
			disk = find_by_name(state, disk->identity.parent);
		memcpy(filesystem->device, disk ? disk->name : "", disk ? strlen(disk->name) + 1 : 1);
	}
	state->devices_changed = false;
}

static void space_unknown(struct frame *frame, int reason)
{
	struct totals_row *totals = SINGLE_ROW(frame, totals);

	frame_set_missing(frame, ROW_mount, reason);
	totals->disk_space_total_gb = totals->disk_space_used_gb = no_real(reason);
	totals->disk_space_free_gb = no_real(reason);
}

static void fill_filesystems(struct host_disk *state, struct root *root, struct frame *frame)
{
	struct totals_row *totals = SINGLE_ROW(frame, totals);
	int64_t total = 0, available = 0, used = 0, known = 0, for_users;
	int last_error = 0;
	int changed = filesystems_refresh(&state->filesystems, root);

	if (changed < 0) {
		space_unknown(frame, changed);
		return;
	}
	if (changed || state->devices_changed)
		match_devices(state);
	for (size_t i = 0; i < state->filesystems.count; i++) {
		const struct filesystem *filesystem = &state->filesystems.all[i];
		struct mount_row *row = ADD_ROW(frame, mount, device_row(frame, filesystem));
		struct filesystem_space space;
		int error = filesystem_read_space(filesystem, root, &space);

		row->mount_point =
			frame_text(frame, filesystem->mount_point, strlen(filesystem->mount_point));
		row->filesystem = frame_text(frame, filesystem->type, strlen(filesystem->type));
		if (error < 0) {
			row->total_bytes = row->used_bytes = row->available_bytes = no_count(error);
			row->used_pct = no_real(error);
			last_error = error;
			continue;
		}
		row->total_bytes = space.total_bytes;
		row->used_bytes = space.total_bytes - space.free_bytes;
		row->available_bytes = space.available_bytes;
		for_users = row->used_bytes + space.available_bytes;
		row->used_pct = for_users > 0 ? 100.0 * (double)row->used_bytes / (double)for_users
					      : no_real(ABSENT_NOT_A_VALUE);
		/* The image is a file, and its bytes are counted on the device that holds the file. */
		if (filesystem->is_loop)
			continue;
		total += space.total_bytes;
		available += space.available_bytes;
		used += row->used_bytes;
		known++;
	}
	/* In a chroot all filesystems may be out of reach. The space is then unknown, not 0. */
	if (!known) {
		int reason = last_error ? last_error : ABSENT_NOT_COLLECTED;

		totals->disk_space_total_gb = totals->disk_space_free_gb = no_real(reason);
		totals->disk_space_used_gb = no_real(reason);
		return;
	}
	totals->disk_space_total_gb = (double)total / 1e9;
	totals->disk_space_free_gb = (double)available / 1e9;
	totals->disk_space_used_gb = (double)used / 1e9;
}

static void host_disk_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct host_disk *state = state_;

	fill_disks(state, context, frame);
	if (context->prepared)
		fill_filesystems(state, context->root, frame);
	else
		space_unknown(frame, ABSENT_NOT_YET);
}

static void host_disk_close(void *state_)
{
	struct host_disk *state = state_;

	kept_file_close(&state->diskstats);
	filesystems_done(&state->filesystems);
	free(state->known);
	free(state);
}

const struct collector HOST_DISK_COLLECTOR = {
	.name = "host_disk",
	.open = host_disk_open,
	.collect = host_disk_collect,
	.prepare = host_disk_prepare,
	.close = host_disk_close,
	.fills = (const enum row_kind[]){ROW_disk, ROW_mount, ROW_totals, ROW_KINDS},
	.describes_machine = true,
};
