/*
 * GPUs of other kernel drivers (nouveau, panfrost, panthor, lima, msm, v3d, etnaviv, asahi). hwmon describes the
 * device, and the fdinfo of its processes gives the job's use.
 */
#include "gpu/vendor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gpu/drm_device.h"

static const char *const DRIVERS[] = {"nouveau", "panfrost", "panthor", "lima",  "msm",
				      "msm_dpu", "v3d",      "etnaviv", "asahi", NULL};

static const struct {
	const char *driver;
	const char *vendor;
} VENDORS[] = {
	{"nouveau", "NVIDIA"}, {"panfrost", "Arm"},    {"panthor", "Arm"},
	{"lima", "Arm"},       {"msm", "Qualcomm"},    {"msm_dpu", "Qualcomm"},
	{"v3d", "Broadcom"},   {"etnaviv", "Vivante"}, {"asahi", "Apple"},
};

static bool other_present(struct root *root)
{
	return drm_has_driver(root, DRIVERS);
}

static int other_open(struct gpu_context *context, void **ret_state)
{
	struct drm_devices *devices = calloc(1, sizeof *devices);
	int error;

	if (!devices)
		return -ENOMEM;
	error = drm_devices_open(context->root, DRIVERS, devices);
	if (error < 0) {
		free(devices);
		return error;
	}
	*ret_state = devices;
	return 0;
}

static void other_close(void *state)
{
	drm_devices_close(state);
	free(state);
}

static const char *vendor_of(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(VENDORS); i++)
		if (strcmp(VENDORS[i].driver, driver) == 0)
			return VENDORS[i].vendor;
	return "unknown";
}

static int other_list(void *state, struct gpu_context *context, struct gpu_survey *survey)
{
	struct drm_devices *devices = state;

	(void)context;
	for (int64_t i = 0; i < devices->count; i++) {
		const struct drm_card *card = &devices->devices[i].card;
		struct gpu_device *device =
			drm_add_device(survey, &devices->devices[i], vendor_of(card->driver));

		if (!device)
			continue;
		device->index = i;
		/* A GPU that is not on PCI shares the machine's memory. */
		device->memory_kind = card->vendor_id >= 0 ? GPU_MEMORY_DEDICATED : GPU_MEMORY_UNIFIED;
	}
	return 0;
}

static int other_read(void *state, struct gpu_context *context, struct gpu_survey *survey,
		      const int64_t *places, int64_t count)
{
	static const char *const POWER[] = {"power1_average", "power1_input", NULL};
	struct drm_devices *devices = state;

	for (int64_t i = 0; i < count && i < devices->count; i++) {
		const struct drm_device *drm = &devices->devices[i];
		struct gpu_device *device;

		if (places[i] < 0)
			continue;
		device = &survey->devices[places[i]];

		if (drm_asleep(context->root, drm, device))
			continue;
		device->readings[GPU_TEMPERATURE_CELSIUS] =
			drm_number(context->root, drm->hwmon_fd, "temp1_input", 1e-3);
		device->readings[GPU_POWER_WATTS] =
			drm_first_number(context->root, drm->hwmon_fd, POWER, 1e-6);
		drm_read_fan(context->root, drm, device);
	}
	return 0;
}

const struct gpu_vendor OTHER_DRM_VENDOR = {
	.name = "drm",
	.present = other_present,
	.open = other_open,
	.list = other_list,
	.read = other_read,
	.close = other_close,
};
