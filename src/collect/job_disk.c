/*
 * The devices that the job read and wrote, by its control group (rows of job_disk).
 *
 * Version 2 counts in io.stat, version 1 in blkio.throttle.io_service_bytes. Both are the job's only if no other job is in
 * the group (cgroup_tenants.h). The tracker may be there, too. The counters of a group that was made for the job began with
 * it. In other groups the first reading is subtracted. A device that comes later had no I/O by then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "collect/cgroup_tenants.h"
#include "collect/collector.h"
#include "kernel/cgroup_v1.h"
#include "kernel/cgroup_v2.h"
#include "kernel/proc_diskstats.h"
#include "metric/typed_rows.h"

enum { DEVICES_MOST = 32, DEVICE_NAME_SIZE = 40 };

enum { READ_BYTES, WRITE_BYTES, READS, WRITES, COUNTERS };

/* No device moves more between two samples. A change below 0 is above it, too. */
#define LEAP_MOST (UINT64_C(1) << 50)

struct device {
	uint32_t major, minor;
	char name[DEVICE_NAME_SIZE];
	int64_t before[COUNTERS]; /* used before the recording began */
	int64_t now[COUNTERS];
	bool leapt; /* what moved since the sample before is unknown */
};

struct job_disk {
	struct cgroup_tenants tenants;
	uint64_t hash;       /* of the place, 0 for none yet */
	dev_t folder_device; /* the folder whose counters these are */
	ino_t folder_inode;
	struct device devices[DEVICES_MOST];
	size_t count;
	bool has_lines;    /* version 1 shows at least one device */
	bool missed_names; /* a device is new: look into /proc/diskstats */
	struct kept_file diskstats;
};

static int job_disk_open(struct collect_context *context, void **ret_state)
{
	struct job_disk *state;

	if (context->selection && !context->selection->kinds[ROW_job_disk])
		return -ENOTSUP;
	state = calloc(1, sizeof *state);
	if (!state)
		return -ENOMEM;
	state->diskstats = KEPT_FILE("proc/diskstats");
	*ret_state = state;
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static struct device *device_of(struct job_disk *state, uint32_t major, uint32_t minor)
{
	struct device *device;

	for (size_t i = 0; i < state->count; i++)
		if (state->devices[i].major == major && state->devices[i].minor == minor)
			return &state->devices[i];
	if (state->count == DEVICES_MOST)
		return NULL;
	device = &state->devices[state->count++];
	*device = (struct device){.major = major, .minor = minor};
	snprintf(device->name, sizeof device->name, "%u:%u", major, minor);
	state->missed_names = true;
	return device;
}

static void name_devices(struct job_disk *state, struct root *root)
{
	struct diskstats_device found;
	struct scan disks;

	if (!state->missed_names || read_proc_diskstats(root, &state->diskstats, &disks) < 0)
		return;
	state->missed_names = false;
	while (proc_diskstats_next(&disks, &found))
		for (size_t i = 0; i < state->count; i++)
			if (state->devices[i].major == found.major && state->devices[i].minor == found.minor)
				scan_copy(&found.name, state->devices[i].name, DEVICE_NAME_SIZE);
}

/* A counter that begins again, or leaps, goes on from there. */
static void follow_counter(struct device *device, int counter, int64_t now)
{
	int64_t change = now - device->now[counter];

	if (now < 0)
		return;
	device->now[counter] = now;
	if ((uint64_t)change <= LEAP_MOST)
		return;
	device->before[counter] += change;
	device->leapt = true;
}

static int read_v2(struct job_disk *state, struct root *root, int folder)
{
	struct scan devices;
	struct cgroup_v2_io io;
	int error = read_cgroup_v2_io_stat(root, folder, &devices);

	while (!error && cgroup_v2_io_stat_next(&devices, &io)) {
		struct device *device =
			io.read_bytes > 0 || io.write_bytes > 0 ? device_of(state, io.major, io.minor) : NULL;

		if (!device)
			continue;
		follow_counter(device, READ_BYTES, io.read_bytes);
		follow_counter(device, WRITE_BYTES, io.write_bytes);
		follow_counter(device, READS, io.reads);
		follow_counter(device, WRITES, io.writes);
	}
	return error;
}

/* Reads a file with the groups below, or without where the kernel has no such file (before Linux 4.2). */
static int read_v1_file(struct job_disk *state, struct root *root, int folder, const char *name,
			bool of_bytes)
{
	char recursive[64];
	struct cgroup_v1_blkio one;
	struct scan lines;
	int error;

	snprintf(recursive, sizeof recursive, "%s_recursive", name);
	error = read_cgroup_v1_blkio(root, folder, recursive, &lines);
	if (error == -ENOENT)
		error = read_cgroup_v1_blkio(root, folder, name, &lines);
	while (!error && cgroup_v1_blkio_next(&lines, &one)) {
		state->has_lines = true;
		struct device *device = one.value ? device_of(state, one.major, one.minor) : NULL;

		if (device)
			follow_counter(device, (of_bytes ? READ_BYTES : READS) + one.is_write, one.value);
	}
	return error;
}

static int read_job_disks(struct job_disk *state, struct root *root, int folder, bool is_v2)
{
	int error = is_v2 ? read_v2(state, root, folder)
			  : read_v1_file(state, root, folder, "blkio.throttle.io_service_bytes", true);

	if (!error && !is_v2)
		(void)read_v1_file(state, root, folder, "blkio.throttle.io_serviced", false);
	name_devices(state, root);
	return error;
}

/* ---- whose it is -------------------------------------------------------------------------------------- */

static int own_folder(const struct cgroup_place *place, enum cgroup_hierarchy hierarchy)
{
	return cgroup_place_is_root(place, hierarchy) ? -1 : cgroup_place_own(place, hierarchy);
}

/* Returns the folder that counts I/O, or -1. */
static int find_folder(const struct cgroup_place *place, bool *ret_is_v2)
{
	int v2 = own_folder(place, CGROUP_UNIFIED);

	*ret_is_v2 = v2 >= 0 && root_exists_at(v2, "io.stat");
	return *ret_is_v2 ? v2 : own_folder(place, CGROUP_BLKIO);
}

static bool is_only_the_job(struct job_disk *state, const struct collect_context *context, int folder,
			    bool is_v2)
{
	struct tenants_viewer viewer = {context->tree, context->in_program};

	if (is_v2 && context->tree && context->tree->cgroup_folder >= 0)
		return true;
	cgroup_tenants_look(&state->tenants, &viewer, folder, context->ending->reason);
	return cgroup_tenants_only_tree(&state->tenants);
}

/* The job is in another group than at the last reading. Its use there still counts. */
static void begin_in(struct job_disk *state, struct root *root, int folder, bool is_v2, bool began_with_job)
{
	for (size_t i = 0; i < state->count; i++)
		for (int j = 0; j < COUNTERS; j++) {
			state->devices[i].before[j] -= state->devices[i].now[j];
			state->devices[i].now[j] = 0;
		}
	(void)read_job_disks(state, root, folder, is_v2);
	for (size_t i = 0; i < state->count && !began_with_job; i++)
		for (int j = 0; j < COUNTERS; j++)
			state->devices[i].before[j] += state->devices[i].now[j];
}

/* The job may move in another hierarchy and stay in this one. */
static bool is_other_folder(struct job_disk *state, int folder)
{
	struct stat status;
	bool is_other;

	if (fstat(folder, &status) < 0)
		return true;
	is_other = status.st_dev != state->folder_device || status.st_ino != state->folder_inode;
	state->folder_device = status.st_dev;
	state->folder_inode = status.st_ino;
	return is_other;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static void add_disk_rows(struct job_disk *state, struct frame *frame)
{
	for (size_t i = 0; i < state->count; i++) {
		struct device *device = &state->devices[i];
		struct job_disk_row *row = ADD_ROW(frame, job_disk, NULL);

		row->device = frame_text(frame, device->name, strlen(device->name));
		row->bytes_read = row->read_counter = device->now[READ_BYTES] - device->before[READ_BYTES];
		row->bytes_written = row->write_counter =
			device->now[WRITE_BYTES] - device->before[WRITE_BYTES];
		row->reads = device->now[READS] - device->before[READS];
		row->writes = device->now[WRITES] - device->before[WRITES];
		if (device->leapt)
			row->read_counter = row->write_counter = no_count(ABSENT_COUNTER_RESET);
		device->leapt = false;
	}
}

static void job_disk_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct job_disk *state = state_;
	const struct cgroup_place *place = context->place;
	bool is_v2 = false, of_a_job = context->tree || context->facts->argc > 0;
	int folder = place ? find_folder(place, &is_v2) : -1, error = 0;

	if (folder < 0 || !of_a_job) {
		frame_set_missing(frame, ROW_job_disk, of_a_job ? ABSENT_NO_CGROUP : ABSENT_NOT_TRACKED);
		return;
	}
	if (state->hash != place->memberships_hash) {
		if (is_other_folder(state, folder))
			begin_in(state, context->root, folder, is_v2,
				 is_v2 && context->tree && context->tree->cgroup_folder >= 0);
		state->hash = place->memberships_hash;
	}
	if (context->progress.baseline && !context->tree)
		return;
	if (!is_only_the_job(state, context, folder, is_v2)) {
		frame_set_missing(frame, ROW_job_disk, ABSENT_NO_ATTRIBUTION);
		return;
	}
	error = read_job_disks(state, context->root, folder, is_v2);
	/* Some kernels count in version 1 only on devices with a limit. */
	if (!error && !is_v2 && !state->has_lines)
		error = -ENOENT;
	if (error < 0)
		frame_set_missing(frame, ROW_job_disk, error == -ENOENT ? ABSENT_NO_SUCH_COUNTER : error);
	else
		add_disk_rows(state, frame);
}

static void job_disk_close(void *state_)
{
	struct job_disk *state = state_;

	kept_file_close(&state->diskstats);
	free(state);
}

const struct collector JOB_DISK_COLLECTOR = {
	.name = "job_disk",
	.open = job_disk_open,
	.collect = job_disk_collect,
	.close = job_disk_close,
	.fills = (const enum row_kind[]){ROW_job_disk, ROW_KINDS},
};
