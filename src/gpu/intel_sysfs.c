/*
 * Intel GPUs by the files of i915 and xe.
 *
 * Neither driver reports in sysfs how busy the device is (the counters for that are performance events, for
 * root alone). So the utilisation of the device is absent, and that of the job comes from the fdinfo of its
 * processes.
 *
 *   i915: card0/gt/gt0/rps_act_freq_mhz 1950      (gt_act_freq_mhz before Linux 5.18)
 *   xe:   device/tile0/gt0/freq0/act_freq 2400    device/tile0/physical_vram_size_bytes 0x3fa000000
 *   i915: card0/gt/gt0/throttle_reason_pl1 0      xe: device/tile0/gt0/freq0/throttle/reason_pl1 0
 *   both: device/hwmon/hwmonN/energy1_input 81273645 (microjoules), power1_max, fan1_input, temp2_input
 */
#include "gpu/vendor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "gpu/drm_device.h"

static const char *const DRIVERS[] = {"i915", "xe", NULL};

struct intel {
	struct drm_devices drm;
};

static bool intel_present(struct root *root)
{
	return drm_has_driver(root, DRIVERS);
}

static int intel_open(struct gpu_context *context, void **ret_state)
{
	struct intel *intel = calloc(1, sizeof *intel);
	int error;

	if (!intel)
		return -ENOMEM;
	error = drm_devices_open(context->root, DRIVERS, &intel->drm);
	if (error < 0) {
		free(intel);
		return error;
	}
	*ret_state = intel;
	return 0;
}

static void intel_close(void *state)
{
	struct intel *intel = state;

	drm_devices_close(&intel->drm);
	free(intel);
}

/* "0x00000003fa000000" */
static struct gpu_number hex_number(struct root *root, int dir_fd, const char *name)
{
	char word[GPU_WORD_SIZE];
	struct scan text;
	uint64_t value;

	drm_text(root, dir_fd, name, word, sizeof word);
	text = scan_bytes(word, strlen(word));
	if (!*word || !scan_literal(&text, "0x"))
		return gpu_absent(EOPNOTSUPP);
	return scan_hex(&text, &value) ? gpu_value((double)value) : gpu_absent(EIO);
}

static int intel_list(void *state, struct gpu_context *context, struct gpu_survey *survey)
{
	struct intel *intel = state;

	for (int64_t i = 0; i < intel->drm.count; i++) {
		const struct drm_device *drm = &intel->drm.devices[i];
		struct gpu_device *device = drm_add_device(survey, drm, "Intel");

		if (!device)
			continue;
		device->index = i;
		device->readings[GPU_VRAM_TOTAL_BYTES] =
			hex_number(context->root, drm->device_fd, "tile0/physical_vram_size_bytes");
		/* Integrated graphics have no sensors of their own; cards do. */
		device->memory_kind = drm->hwmon_fd >= 0 || !device->readings[GPU_VRAM_TOTAL_BYTES].error
					      ? GPU_MEMORY_DEDICATED
					      : GPU_MEMORY_UNIFIED;
	}
	return 0;
}

/* The card's limit, else the package's. The kernel writes 0 for "no limit". */
static struct gpu_number power_limit(struct root *root, const struct drm_device *drm)
{
	struct gpu_number limit = drm_number(root, drm->hwmon_fd, "power1_max", 1e-6);

	if (limit.error || limit.value <= 0)
		limit = drm_number(root, drm->hwmon_fd, "power2_max", 1e-6);
	return !limit.error && limit.value <= 0 ? gpu_absent(EOPNOTSUPP) : limit;
}

/* Each reason is a file of its own, which newer chips have in part under other names. */
static const struct {
	const char *name;
	unsigned reason;
} THROTTLE_FILES[] = {
	{"pl1", GPU_THROTTLE_POWER_CAP},
	{"pl2", GPU_THROTTLE_POWER_CAP},
	{"psys_pl1", GPU_THROTTLE_POWER_CAP},
	{"psys_pl2", GPU_THROTTLE_POWER_CAP},
	{"pl4", GPU_THROTTLE_HARDWARE},
	{"iccmax", GPU_THROTTLE_HARDWARE},
	{"vr_tdc", GPU_THROTTLE_HARDWARE},
	{"fastvmode", GPU_THROTTLE_HARDWARE},
	{"psys_crit", GPU_THROTTLE_HARDWARE},
	{"thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
	{"soc_thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
	{"soc_avg_thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
	{"mem_thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
	{"ratl", GPU_THROTTLE_THERMAL_SOFTWARE},
	{"prochot", GPU_THROTTLE_THERMAL_HARDWARE},
	{"vr_thermalert", GPU_THROTTLE_THERMAL_HARDWARE},
	{"vr_thermal", GPU_THROTTLE_THERMAL_HARDWARE},
	{"p0_freq", GPU_THROTTLE_CLOCK_SETTING},
};

/* The status says whether there is a reason at all: one file, most of the time. */
static struct gpu_number throttle_reasons(struct root *root, int dir_fd, const char *status_name,
					  const char *start)
{
	struct gpu_number status = drm_number(root, dir_fd, status_name, 1);
	unsigned reasons = 0;
	char name[64];

	if (status.error || status.value <= 0)
		return status;
	for (size_t i = 0; i < ARRAY_SIZE(THROTTLE_FILES); i++) {
		struct gpu_number holds;

		snprintf(name, sizeof name, "%s%s", start, THROTTLE_FILES[i].name);
		holds = drm_number(root, dir_fd, name, 1);
		if (!holds.error && holds.value > 0)
			reasons |= THROTTLE_FILES[i].reason;
	}
	return gpu_value(reasons ? reasons : GPU_THROTTLE_HARDWARE);
}

static void intel_read_device(struct root *root, struct drm_device *drm, struct gpu_device *device)
{
	static const char *const CARD_CLOCK[] = {"gt/gt0/rps_act_freq_mhz", "gt_act_freq_mhz", NULL};
	static const char *const TEMPERATURE[] = {"temp2_input", "temp1_input", NULL};
	static const char *const ENERGY[] = {"energy1_input", "energy2_input", NULL};
	struct gpu_number *readings = device->readings;

	readings[GPU_FREQUENCY_HZ] = drm_first_number(root, drm->card_fd, CARD_CLOCK, 1e6);
	if (readings[GPU_FREQUENCY_HZ].error)
		readings[GPU_FREQUENCY_HZ] =
			drm_number(root, drm->device_fd, "tile0/gt0/freq0/act_freq", 1e6);
	readings[GPU_TEMPERATURE_CELSIUS] = drm_first_number(root, drm->hwmon_fd, TEMPERATURE, 1e-3);
	readings[GPU_POWER_LIMIT_WATTS] = power_limit(root, drm);
	readings[GPU_POWER_WATTS] = gpu_absent(EOPNOTSUPP);
	readings[GPU_ENERGY_JOULES] = drm_first_number(root, drm->hwmon_fd, ENERGY, 1e-6);
	readings[GPU_THROTTLE_REASONS] = throttle_reasons(root, drm->card_fd, "gt/gt0/throttle_reason_status",
							  "gt/gt0/throttle_reason_");
	if (readings[GPU_THROTTLE_REASONS].error)
		readings[GPU_THROTTLE_REASONS] =
			throttle_reasons(root, drm->device_fd, "tile0/gt0/freq0/throttle/status",
					 "tile0/gt0/freq0/throttle/reason_");
	drm_power_from_energy(drm, device, root_monotonic_ns(root));
	drm_read_fan(root, drm, device);
}

static int intel_read(void *state, struct gpu_context *context, struct gpu_survey *survey,
		      const int64_t *places, int64_t count)
{
	struct intel *intel = state;

	for (int64_t i = 0; i < count && i < intel->drm.count; i++) {
		struct gpu_device *device;

		if (places[i] < 0)
			continue;
		device = &survey->devices[places[i]];

		if (!drm_asleep(context->root, &intel->drm.devices[i], device))
			intel_read_device(context->root, &intel->drm.devices[i], device);
	}
	return 0;
}

const struct gpu_vendor INTEL_VENDOR = {
	.name = "intel",
	.present = intel_present,
	.open = intel_open,
	.list = intel_list,
	.read = intel_read,
	.close = intel_close,
};
