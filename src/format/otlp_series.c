/* Makes points of samples. See otlp_series.h. */
#include "format/otlp_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ends_with.h"
#include "base/scan.h"
#include "metric/typed_rows.h"

const struct otlp_series OTLP_SERIES[OTLP_SERIES_COUNT] = {
#define SERIES(group, name, unit, form, key, value, kind, field, way, factor) \
	{OTLP_##group, name,   unit,       OTLP_##form, \
	 key,          value,  ROW_##kind, offsetof(struct kind##_row, field), \
	 OTLP_##way,   factor, ROW_KINDS,  0},
#define EACH(group, name, unit, form, key, value, kind, field, way, factor, part_kind, part_field) \
	{OTLP_##group, \
	 name, \
	 unit, \
	 OTLP_##form, \
	 key, \
	 value, \
	 ROW_##kind, \
	 offsetof(struct kind##_row, field), \
	 OTLP_##way, \
	 factor, \
	 ROW_##part_kind, \
	 offsetof(struct part_kind##_row, part_field)},
#include "format/otlp_series.def"
};

void otlp_want(struct metric_set *wanted)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		metric_set_add(wanted, OTLP_SERIES[i].kind, metric_index_at(OTLP_SERIES[i].offset));
	for (size_t i = OTLP_PLAIN_COUNT; i < OTLP_SERIES_COUNT; i++)
		metric_set_add(wanted, OTLP_SERIES[i].part_kind, metric_index_at(OTLP_SERIES[i].part_offset));
	WANT(wanted, disk, device);
	WANT(wanted, network, interface);
	WANT(wanted, network, driver);
	WANT(wanted, network, mac_address);
	WANT(wanted, gpu, host_id);
	WANT(wanted, gpu, mig_parent);
	WANT(wanted, sample, timestamp);
	WANT(wanted, sample, elapsed_secs);
	WANT(wanted, sample, rank);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, gpu, uuid);
	WANT(wanted, program, name);
	metric_set_add_kind(wanted, ROW_run_start);
	metric_set_add_kind(wanted, ROW_run_start_scheduler);
	metric_set_add_kind(wanted, ROW_run_start_tag);
	metric_set_add_kind(wanted, ROW_cloud);
	metric_set_add_kind(wanted, ROW_run_end);
	metric_set_add_kind(wanted, ROW_first_failure);
}

/* ---- times ------------------------------------------------------------------------------------------------ */

/* Whole microseconds, as recordings have them: a double cannot hold the nanoseconds of a date. */
static int64_t ns_of_secs(double secs)
{
	return secs >= 0 && secs < 9e9 ? (int64_t)llround(secs * 1e6) * 1000 : 0;
}

static int64_t elapsed_ns(const struct frame *sample)
{
	double secs = sample->sample->elapsed_secs;

	return real_absent(secs) ? -1 : ns_of_secs(secs);
}

/* Grows by a millisecond at least, the unit of most receivers, whatever the wall clock does. */
static int64_t series_time_of(const struct otlp_run *run, const struct frame *sample)
{
	double secs = sample->sample->timestamp;
	int64_t time_ns = real_absent(secs) ? 0 : ns_of_secs(secs);

	return time_ns > run->last_ns + NSEC_PER_MSEC ? time_ns : run->last_ns + NSEC_PER_MSEC;
}

void otlp_run_begin(struct otlp_run *ret_run, const struct frame *first, int64_t step_ns, unsigned extras)
{
	const struct run_start_row *start = (const void *)first->first[ROW_run_start];
	double secs = first->sample->timestamp;
	int64_t elapsed = elapsed_ns(first), time_ns = real_absent(secs) ? 0 : ns_of_secs(secs);
	struct otlp_run run = {.step_ns = step_ns, .due_ns = step_ns, .extras = extras};

	/* A run without a job has nothing else to tell. */
	if (start && !text_absent(start->mode) && strcmp(start->mode, "host") == 0)
		run.extras |= OTLP_WITH_MACHINE;
	run.start_ns = elapsed > 0 && elapsed < time_ns ? time_ns - elapsed : time_ns - NSEC_PER_MSEC;
	if (run.start_ns <= 0)
		run.start_ns = 1;
	run.last_ns = run.start_ns;
	*ret_run = run;
}

/* ---- values ----------------------------------------------------------------------------------------------- */

/* Returns false if the metric is absent in this row. */
static bool read_field(const struct row *row, size_t offset, double factor, double *ret_value)
{
	const struct metric *metric;

	if (!row)
		return false;
	metric = &ROW_DESCRIPTIONS[row->kind].metrics[metric_index_at(offset)];
	if (field_absent(row, metric->type, offset))
		return false;
	if (metric->type == TYPE_TEXT)
		*ret_value = 1;
	else if (metric->type == TYPE_REAL)
		*ret_value = *row_real(row, offset) * factor;
	else
		*ret_value = (double)*row_count(row, offset) * factor;
	return isfinite(*ret_value);
}

static bool read_series_value(const struct otlp_series *series, const struct frame *sample, double *ret_value)
{
	return read_field(sample->first[series->kind], series->offset, series->factor, ret_value);
}

static void take_series_value(struct otlp_run *run, enum otlp_way way, size_t slot, double value)
{
	bool known = otlp_set_has(&run->known, slot);

	/* A counter that seems to go back is damage. */
	if (way == OTLP_ADDED && (value < 0 || !isfinite(run->values[slot] + value)))
		return;
	otlp_set_put(&run->known, slot, true);
	if (way == OTLP_ADDED)
		run->values[slot] += value;
	else if (way != OTLP_MOST || !known || value > run->values[slot])
		run->values[slot] = value;
}

/* ---- devices and programs --------------------------------------------------------------------------------- */

/* The row of the recorder for programs without a row of their own. Programs beyond the slots count there, too. */
#define OTHER_PROGRAMS "others"

static enum otlp_device_kind device_kind(const struct otlp_series *series)
{
	switch (series->part_kind) {
	case ROW_disk:
		return OTLP_DISK;
	case ROW_network:
		return OTLP_INTERFACE;
	case ROW_program:
		return OTLP_PROGRAM_NAME;
	default:
		return OTLP_DEVICE_GPU;
	}
}

const char *otlp_slot_device(const struct otlp_devices *devices, size_t slot, const char **ret_key)
{
	static const char *const KEYS[] = {"system.device", "hw.id", "network.interface.name", "program"};
	enum otlp_device_kind kind;
	size_t index;

	if (slot < OTLP_PLAIN_COUNT)
		return NULL;
	index = (slot - OTLP_PLAIN_COUNT) % OTLP_SLOTS_EACH;
	kind = device_kind(&OTLP_SERIES[otlp_slot_series(slot)]);
	*ret_key = KEYS[kind];
	if (!index)
		return kind == OTLP_PROGRAM_NAME ? OTHER_PROGRAMS : NULL;
	return devices->names[kind][index - 1];
}

/* The bytes of these are counted on the disks below them, and the total has them once. */
static bool is_stacked(const char *name)
{
	return begins_with(name, "dm-") || begins_with(name, "md") || begins_with(name, "zd") ||
	       begins_with(name, "bcache");
}

/* A GPU that is divided into instances: these have its use. */
static bool is_divided_metric(const struct gpu_row *gpu, const struct frame *sample)
{
	for (const struct row *row = sample->first[ROW_gpu]; row; row = row->next) {
		const struct gpu_row *other = (const void *)row;

		if (!text_absent(other->mig_parent) && !text_absent(gpu->uuid) &&
		    strcmp(other->mig_parent, gpu->uuid) == 0)
			return true;
	}
	return false;
}

/* Whether another interface has the same address, and counts the bytes of this one, its fast path, as its own. */
static bool is_fast_path(const struct network_row *of, const struct network_row *other)
{
	return other != of && !text_absent(of->mac_address) && !text_absent(other->mac_address) &&
	       strcmp(of->mac_address, other->mac_address) == 0 && !text_absent(other->driver) &&
	       strcmp(other->driver, "hv_netvsc") == 0;
}

/* Interfaces that carry the bytes of others, by their usual names. */
static bool is_virtual(const char *name)
{
	static const char *const STARTS[] = {
		"bond", "br-",    "br0", "cali", "cilium", "cni",  "docker", "dummy", "flannel", "ifb", "lxc",
		"lxd",  "podman", "tap", "team", "tun",    "veth", "virbr",  "vlan",  "vxlan",   "wg"};

	for (size_t i = 0; i < ARRAY_SIZE(STARTS); i++)
		if (begins_with(name, STARTS[i]))
			return true;
	return strchr(name, '.') != NULL;
}

/*
 * Hardware is in the total of the machine (collect/host_network.c), and has a driver. In a container no interface has one. The
 * total is then that of its uplink.
 */
static bool is_in_total(const struct network_row *interface, const struct frame *sample)
{
	bool is_hardware = !text_absent(interface->driver);

	for (const struct row *row = sample->first[ROW_network]; row; row = row->next) {
		const struct network_row *other = (const void *)row;

		if (is_hardware ? is_fast_path(interface, other) : !text_absent(other->driver))
			return false;
	}
	return is_hardware || !is_virtual(interface->interface);
}

/* Without a total, each row has a value of its own. */
static bool is_divided_total(const struct otlp_series *series)
{
	return series->kind != series->part_kind;
}

/* Returns NULL for a row that is not a part of the total. */
static const char *device_name(const struct otlp_series *series, const struct row *row,
			       const struct frame *sample)
{
	const struct gpu_row *gpu = (const void *)row;
	const char *name;

	if (row->kind == ROW_disk) {
		name = ((const struct disk_row *)(const void *)row)->device;
		return text_absent(name) || is_stacked(name) ? NULL : name;
	}
	if (row->kind == ROW_network) {
		name = ((const struct network_row *)(const void *)row)->interface;
		return text_absent(name) || !is_in_total((const void *)row, sample) ? NULL : name;
	}
	if (row->kind == ROW_program) {
		name = ((const struct program_row *)(const void *)row)->name;
		return text_absent(name) ? NULL : name;
	}
	name = text_absent(gpu->uuid) ? gpu->host_id : gpu->uuid;
	return text_absent(name) || (is_divided_total(series) && is_divided_metric(gpu, sample)) ? NULL
												 : name;
}

/* Returns the number of a device or program in the slots of a series, or 0 if there are too many. */
static size_t device_number(struct otlp_devices *devices, enum otlp_device_kind kind, const char *name)
{
	char cut[OTLP_DEVICE_SIZE];
	size_t count = devices->counts[kind];

	if (kind == OTLP_PROGRAM_NAME && strcmp(name, OTHER_PROGRAMS) == 0)
		return 0;
	snprintf(cut, sizeof cut, "%s", name);
	for (size_t i = 0; i < count; i++)
		if (strcmp(devices->names[kind][i], cut) == 0)
			return i + 1;
	if (!*cut || count == OTLP_DEVICES_MOST)
		return 0;
	memcpy(devices->names[kind][count], cut, sizeof cut);
	return ++devices->counts[kind];
}

struct parts {
	bool known[OTLP_SLOTS_EACH];
	double values[OTLP_SLOTS_EACH];
	double sum;
};

static void find_series_parts(struct otlp_run *run, const struct otlp_series *series,
			      const struct frame *sample, struct parts *parts)
{
	double factor = is_divided_total(series) ? 1 : series->factor;

	for (const struct row *row = sample->first[series->part_kind]; row; row = row->next) {
		const char *name = device_name(series, row, sample);
		size_t number;
		double value;

		if (!name || !read_field(row, series->part_offset, factor, &value) || value < 0)
			continue;
		number = device_number(&run->devices, device_kind(series), name);
		parts->known[number] = true;
		parts->values[number] += value;
		parts->sum += value;
	}
}

/* Without any use of the devices, nothing says whose a total is, unless there is only one. */
static void give_whole(struct parts *parts, double total)
{
	size_t devices = 0, only = 0;

	for (size_t i = 1; i < OTLP_SLOTS_EACH; i++) {
		parts->values[i] = 0;
		if (parts->known[i] && ++devices)
			only = i;
	}
	if (devices != 1)
		only = 0;
	parts->values[only] = total;
	parts->known[only] |= !devices || total > 0;
}

/* Makes the parts add up to the total. Whole bytes stay whole: each part is rounded together with those before it. */
static void fit_parts(struct parts *parts, const struct otlp_series *series, double total)
{
	double before = 0, sum = 0;

	if (!(parts->sum > 0) || !isfinite(parts->sum)) {
		give_whole(parts, total);
		return;
	}
	for (size_t i = 0; i < OTLP_SLOTS_EACH; i++) {
		double with;

		sum += parts->values[i];
		with = total * (sum / parts->sum);
		if (series->way == OTLP_ADDED)
			with = floor(with + 0.5);
		parts->values[i] = parts->values[i] > 0 ? with - before : 0;
		before = with;
	}
}

static void take_parts(struct otlp_run *run, const struct otlp_series *series, size_t first,
		       const struct frame *sample, double total)
{
	struct parts parts = {0};

	find_series_parts(run, series, sample, &parts);
	if (is_divided_total(series))
		fit_parts(&parts, series, total);
	for (size_t i = 0; i < OTLP_SLOTS_EACH; i++)
		if (parts.known[i])
			take_series_value(run, series->way, first + i, parts.values[i]);
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

static bool series_is_wanted(const struct otlp_run *run, const struct otlp_series *series,
			     const struct frame *sample)
{
	switch (series->group) {
	case OTLP_MACHINE:
		return run->extras & OTLP_WITH_MACHINE;
	case OTLP_PROGRAM:
		return run->extras & OTLP_WITH_PROGRAMS;
	case OTLP_PROGRAM_GPU:
		return run->extras & OTLP_WITH_PROGRAMS && sample->first[ROW_gpu];
	case OTLP_GPU:
		return sample->first[ROW_gpu] != NULL;
	case OTLP_JOB:
	case OTLP_END:
		break;
	}
	return true;
}

static void take_series_values(struct otlp_run *run, const struct frame *sample)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++) {
		const struct otlp_series *series = &OTLP_SERIES[i];
		size_t first = otlp_first_slot(i), end = otlp_first_slot(i + 1);
		double value = 0;

		for (size_t slot = first; series->way == OTLP_TAKEN && slot < end; slot++)
			otlp_set_put(&run->known, slot, false);
		if (!series_is_wanted(run, series, sample) ||
		    ((i < OTLP_PLAIN_COUNT || is_divided_total(series)) &&
		     !read_series_value(series, sample, &value)))
			continue;
		if (i < OTLP_PLAIN_COUNT)
			take_series_value(run, series->way, first, value);
		else
			take_parts(run, series, first, sample, value);
	}
}

static size_t series_of(enum row_kind kind, size_t offset, enum otlp_way way)
{
	for (size_t i = 0; i < OTLP_PLAIN_COUNT; i++)
		if (OTLP_SERIES[i].kind == kind && OTLP_SERIES[i].offset == offset &&
		    OTLP_SERIES[i].way == way)
			return i;
	return 0;
}

/* Rounded changes add up to a little less than the total, which the end knows. */
static void complete_total(struct otlp_run *run, size_t series, double total)
{
	if (!real_absent(total) && otlp_set_has(&run->known, series) && total > run->values[series])
		run->values[series] = total;
}

static void take_series_end(struct otlp_run *run, const struct run_end_row *end)
{
	size_t peak = series_of(ROW_tree, offsetof(struct tree_row, process_memory_mib), OTLP_MOST);

	snprintf(run->reason, sizeof run->reason, "%s", text_absent(end->reason) ? "unknown" : end->reason);
	complete_total(run, series_of(ROW_tree, offsetof(struct tree_row, process_utime_secs), OTLP_ADDED),
		       end->tree_utime_secs);
	complete_total(run, series_of(ROW_tree, offsetof(struct tree_row, process_stime_secs), OTLP_ADDED),
		       end->tree_stime_secs);
	/* The end knows better: a first reading may have been too large. */
	if (!real_absent(end->memory_peak_mib)) {
		run->values[peak] = end->memory_peak_mib * OTLP_SERIES[peak].factor;
		otlp_set_put(&run->known, peak, true);
	}
}

/* ---- points ----------------------------------------------------------------------------------------------- */

static void add_series_point(struct otlp_run *run, struct otlp_batch *batch)
{
	struct otlp_point *point = &batch->points[batch->count++];

	point->time_ns = run->last_ns;
	point->present = run->known;
	for (size_t i = 0; i < OTLP_SLOT_WORDS; i++)
		point->gone.words[i] = run->shown.words[i] & ~run->known.words[i];
	run->shown = run->known;
	memcpy(point->values, run->values, sizeof point->values);
	batch->start_ns = run->start_ns;
	batch->devices = run->devices;
	for (size_t i = 0; i < OTLP_SLOT_COUNT; i++)
		if (otlp_set_has(&run->known, i) && !otlp_set_has(&run->sent, i) &&
		    OTLP_SERIES[otlp_slot_series(i)].form == OTLP_SUM)
			otlp_set_put(&batch->zero, i, true);
	for (size_t i = 0; i < OTLP_SLOT_WORDS; i++)
		run->sent.words[i] |= run->known.words[i];
	run->pending = false;
}

/* Steps are counted from the start, so a late sample does not move the next one. */
static bool series_is_due(struct otlp_run *run, int64_t elapsed)
{
	if (run->step_ns <= 0 || elapsed < 0)
		return true;
	if (elapsed < run->due_ns)
		return false;
	run->due_ns = (elapsed / run->step_ns + 1) * run->step_ns;
	return true;
}

bool otlp_run_feed(struct otlp_run *run, const struct frame *sample, struct otlp_batch *batch)
{
	const struct run_end_row *end = (const void *)sample->first[ROW_run_end];

	run->last_ns = series_time_of(run, sample);
	run->pending = true;
	take_series_values(run, sample);
	if (end)
		take_series_end(run, end);
	else if (series_is_due(run, elapsed_ns(sample)))
		add_series_point(run, batch);
	return batch->count >= OTLP_MOST_STEPS;
}

void otlp_run_end(struct otlp_run *run, struct otlp_batch *batch)
{
	if (run->pending)
		add_series_point(run, batch);
	batch->start_ns = run->start_ns;
	batch->stale = run->shown;
	batch->devices = run->devices;
	batch->is_end = true;
	batch->stale_ns = run->last_ns + NSEC_PER_MSEC;
	memcpy(batch->reason, run->reason, sizeof batch->reason);
}
