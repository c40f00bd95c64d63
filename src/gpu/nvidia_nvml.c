/*
 * NVIDIA GPUs by NVML (libnvidia-ml.so.1, which comes with the driver).
 *
 * NVML is initialised once and kept: each initialisation wakes the device for a second. No CUDA context is made and
 * no setting, persistence mode included, is touched.
 */
#include "gpu/vendor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/nvidia_device.h"
#include "gpu/nvidia_processes.h"

/* Asking for more devices than ASKED_MOST would take hours: the count must be wrong. */
enum { RELIST_PASSES = 30, MIG_SLICES_USUAL = 7, ASKED_MOST = 4 * GPU_DEVICES_MAX };

struct nvidia {
	struct nvml nvml;
	struct nvidia_device devices[GPU_DEVICES_MAX]; /* as they were listed */
	int64_t count;
	struct nvidia_device earlier[GPU_DEVICES_MAX]; /* of the previous list, while a new one is made */
	int64_t earlier_count;
	unsigned visible_count; /* devices that NVML counted */
	unsigned had_count;     /* those of them that could be opened */
	int64_t next_pcie;      /* the next device to measure */
	nvml_event_set events;  /* NULL: the driver tells none */
	int relist_in;
	struct nvidia_records records;
};

static bool nvidia_present(struct root *root)
{
	const char *given = secure_getenv("TRACKER_NVML_LIBRARY");

	return (given && *given) || root_exists(root, "dev/nvidiactl") || root_exists(root, "dev/dxg");
}

static int nvidia_open(struct gpu_context *context, void **ret_state)
{
	struct nvidia *nvidia = calloc(1, sizeof *nvidia);
	int error;

	if (!nvidia)
		return -ENOMEM;
	error = nvml_open(&nvidia->nvml, &context->problem);
	if (error < 0) {
		free(nvidia);
		return error;
	}
	if (nvidia->nvml.event_set && nvidia->nvml.event_set_free && nvidia->nvml.register_events &&
	    nvidia->nvml.next_event && nvidia->nvml.event_set(&nvidia->events) != NVML_SUCCESS)
		nvidia->events = NULL;
	*ret_state = nvidia;
	return 0;
}

static void close_devices(const struct nvml *nvml, struct nvidia_device *devices, int64_t *count)
{
	for (int64_t i = 0; i < *count; i++)
		nvidia_device_close(nvml, &devices[i]);
	*count = 0;
}

static void nvidia_close(void *state)
{
	struct nvidia *nvidia = state;

	close_devices(&nvidia->nvml, nvidia->devices, &nvidia->count);
	nvidia_records_done(&nvidia->records);
	if (nvidia->events)
		nvidia->nvml.event_set_free(nvidia->events);
	if (nvidia->nvml.shutdown)
		nvidia->nvml.shutdown();
	free(nvidia);
}

/* ---- listing --------------------------------------------------------------------------------------- */

/* A device that was listed before keeps its remembered values. */
static void open_or_keep(struct nvidia *nvidia, struct nvidia_device *added)
{
	for (int64_t i = 0; i < nvidia->earlier_count; i++) {
		struct nvidia_device *earlier = &nvidia->earlier[i];

		if (earlier->handle != added->handle || earlier->whole != added->whole ||
		    earlier->is_instance != added->is_instance || earlier->is_divided != added->is_divided ||
		    earlier->gpu_instance != added->gpu_instance)
			continue;
		*added = *earlier;
		*earlier = nvidia->earlier[--nvidia->earlier_count];
		/* Its row starts again: read everything. */
		added->slow_in = 0;
		added->lost_in = 0;
		return;
	}
	nvidia_device_open(&nvidia->nvml, added);
	added->xid_error = EOPNOTSUPP;
	if (nvidia->events && !added->is_instance)
		added->xid_error = nvml_errno(
			nvidia->nvml.register_events(added->handle, NVML_EVENT_XID, nvidia->events));
}

static struct gpu_device *add_nvidia_device(struct nvidia *nvidia, struct gpu_survey *survey,
					    const struct nvidia_device *template, int64_t index)
{
	struct gpu_device *device = gpu_survey_add_device(survey, "NVIDIA");
	struct nvidia_device *added = &nvidia->devices[nvidia->count];

	if (!device)
		return NULL;
	nvidia->count++;
	*added = *template;
	open_or_keep(nvidia, added);
	device->index = index;
	nvidia_read_identity(&nvidia->nvml, added, device);
	return device;
}

static unsigned ask_u32(nvml_device_u32 *function, nvml_device handle, unsigned otherwise)
{
	unsigned value = 0;

	return function && function(handle, &value) == NVML_SUCCESS ? value : otherwise;
}

/* How many instances a device may have. */
static unsigned ask_slices(const struct nvml *nvml, nvml_device whole)
{
	unsigned slices = ask_u32(nvml->mig_max_count, whole, MIG_SLICES_USUAL);

	return slices && slices <= ASKED_MOST ? slices : MIG_SLICES_USUAL;
}

static bool is_divided(const struct nvml *nvml, nvml_device handle)
{
	unsigned now = 0, later = 0;

	return nvml->mig_mode && nvml->mig_by_index && nvml->mig_mode(handle, &now, &later) == NVML_SUCCESS &&
	       now == 1;
}

static void add_instance(struct nvidia *nvidia, struct gpu_survey *survey, nvml_device whole,
			 nvml_device instance, int64_t parent)
{
	const struct nvml *nvml = &nvidia->nvml;
	struct nvidia_device template = {.handle = instance, .whole = whole, .is_instance = true};
	struct nvml_attributes attributes = {.gpu_slice_count = 0};
	unsigned slices = ask_slices(nvml, whole);
	struct gpu_device *device;

	template.gpu_instance = ask_u32(nvml->gpu_instance, instance, NVML_NO_INSTANCE);
	device = add_nvidia_device(nvidia, survey, &template, survey->devices[parent].index);
	if (!device)
		return;
	device->parent = parent;
	device->gpu_instance =
		template.gpu_instance == NVML_NO_INSTANCE ? -1 : (int64_t) template.gpu_instance;
	device->compute_instance = ask_u32(nvml->compute_instance, instance, 0);
	if (!nvml->attributes || nvml->attributes(instance, &attributes) != NVML_SUCCESS) {
		device->readings[GPU_SHARE] = gpu_absent(EOPNOTSUPP);
		return;
	}
	device->readings[GPU_SHARE] = attributes.compute_slice_count <= slices
					      ? gpu_value((double)attributes.compute_slice_count / slices)
					      : gpu_absent(EIO);
	device->readings[GPU_CORE_COUNT] = gpu_absent(EOPNOTSUPP);
}

static void add_instances(struct nvidia *nvidia, struct gpu_survey *survey, nvml_device whole, int64_t parent)
{
	unsigned count = ask_slices(&nvidia->nvml, whole);

	for (unsigned i = 0; i < count; i++) {
		nvml_device instance;

		if (nvidia->nvml.mig_by_index(whole, i, &instance) == NVML_SUCCESS)
			add_instance(nvidia, survey, whole, instance, parent);
	}
}

static int nvidia_list(void *state, struct gpu_context *context, struct gpu_survey *survey)
{
	struct nvidia *nvidia = state;
	unsigned count = 0;
	int result;

	nvidia->relist_in = RELIST_PASSES;
	result = nvidia->nvml.device_count(&count);
	if (result != NVML_SUCCESS || count > ASKED_MOST) {
		context->problem = "NVML does not count its devices";
		return result == NVML_SUCCESS ? -EIO : -nvml_errno(result);
	}
	memcpy(nvidia->earlier, nvidia->devices, (size_t)nvidia->count * sizeof(nvidia->devices[0]));
	nvidia->earlier_count = nvidia->count;
	nvidia->count = 0;
	nvidia->visible_count = count;
	nvidia->had_count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct nvidia_device template = {.handle = NULL};
		int64_t place = survey->device_count;

		/* Devices that this job may not use are counted, but cannot be opened. */
		if (nvidia->nvml.device_by_index(i, &template.handle) != NVML_SUCCESS)
			continue;
		nvidia->had_count++;
		template.whole = template.handle;
		template.is_divided = is_divided(&nvidia->nvml, template.handle);
		if (add_nvidia_device(nvidia, survey, &template, i) && template.is_divided)
			add_instances(nvidia, survey, template.whole, place);
	}
	close_devices(&nvidia->nvml, nvidia->earlier, &nvidia->earlier_count);
	return 0;
}

static bool counts_hold(const struct nvidia *nvidia)
{
	unsigned count = 0, had = 0;

	if (nvidia->nvml.device_count(&count) != NVML_SUCCESS || count != nvidia->visible_count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		nvml_device device;

		had += nvidia->nvml.device_by_index(i, &device) == NVML_SUCCESS;
	}
	return had == nvidia->had_count;
}

/* Whether the listed devices are still the same: devices fall off the bus, and MIG instances come and go. */
static bool list_holds(struct nvidia *nvidia)
{
	int64_t place = 0;

	if (!counts_hold(nvidia))
		return false;
	for (; place < nvidia->count; place++) {
		const struct nvidia_device *device = &nvidia->devices[place];
		unsigned max, found = 0, listed = 0;

		if (device->is_instance)
			continue;
		if (device->lost_in)
			continue;
		if (is_divided(&nvidia->nvml, device->handle) != device->is_divided)
			return false;
		max = device->is_divided ? ask_slices(&nvidia->nvml, device->handle) : 0;
		for (unsigned i = 0; i < max; i++) {
			nvml_device instance;

			found += nvidia->nvml.mig_by_index(device->handle, i, &instance) == NVML_SUCCESS;
		}
		for (int64_t i = 0; i < nvidia->count; i++)
			listed +=
				nvidia->devices[i].is_instance && nvidia->devices[i].whole == device->handle;
		if (found != listed)
			return false;
	}
	return true;
}

/* ---- errors that the driver tells ------------------------------------------------------------------ */

static void read_events(struct nvidia *nvidia)
{
	enum { EVENTS_A_PASS = 64 };
	struct nvml_event event;

	for (int n = 0; nvidia->events && n < EVENTS_A_PASS; n++) {
		event = (struct nvml_event){.kind = 0};
		if (nvidia->nvml.next_event(nvidia->events, &event, 0) != NVML_SUCCESS)
			return;
		for (int64_t i = 0; event.kind == NVML_EVENT_XID && i < nvidia->count; i++) {
			if (nvidia->devices[i].handle != event.device)
				continue;
			nvidia->devices[i].xid_count++;
			nvidia->devices[i].last_xid = (int64_t)event.data;
			/* It may tell of memory: read the counters of errors now, since the job may end by it. */
			nvidia->devices[i].slow_in = 0;
		}
	}
}

/* Those of a device that has fallen off the bus stay: they say why. */
static void set_events(const struct nvidia_device *nvidia, struct gpu_device *device)
{
	device->readings[GPU_XID_ERRORS] =
		nvidia->xid_error ? gpu_absent(nvidia->xid_error) : gpu_value((double)nvidia->xid_count);
	device->readings[GPU_LAST_XID] =
		nvidia->xid_error ? gpu_absent(nvidia->xid_error) : gpu_value((double)nvidia->last_xid);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static int nvidia_read(void *state, struct gpu_context *context, struct gpu_survey *survey,
		       const int64_t *places, int64_t count)
{
	struct nvidia *nvidia = state;
	int64_t realtime_us = root_realtime_ns(context->root) / NSEC_PER_USEC;

	if (nvidia->relist_in-- <= 0) {
		nvidia->relist_in = RELIST_PASSES;
		if (!list_holds(nvidia))
			return -ESTALE;
	}
	read_events(nvidia);
	for (int64_t i = 0; i < count && i < nvidia->count; i++) {
		int error;

		if (places[i] < 0)
			continue;
		error = nvidia_read_device(&nvidia->nvml, &nvidia->devices[i], &survey->devices[places[i]],
					   root_monotonic_ns(context->root), context->sampled_ns,
					   i == nvidia->next_pcie);
		set_events(&nvidia->devices[i], &survey->devices[places[i]]);
		if (error == 0)
			nvidia_read_processes(&nvidia->nvml, &nvidia->devices[i], survey, places[i],
					      realtime_us, &nvidia->records);
	}
	/* Measuring takes 40 ms of waiting: one device at a time. */
	nvidia->next_pcie = nvidia->count ? (nvidia->next_pcie + 1) % nvidia->count : 0;
	return 0;
}

const struct gpu_vendor NVIDIA_VENDOR = {
	.name = "nvidia",
	.present = nvidia_present,
	.open = nvidia_open,
	.list = nvidia_list,
	.read = nvidia_read,
	.close = nvidia_close,
};
