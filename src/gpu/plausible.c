/* Bounds of readings; see plausible.h. */
#include "gpu/plausible.h"

#include <errno.h>

#include "base/cleanup.h"

static const struct {
	enum gpu_reading reading;
	double lowest, highest;
} BOUNDS[] = {
#define GPU_READING(id, lowest, highest) {id, lowest, highest},
#include "gpu/readings.def"
};

static void check_readings(struct gpu_device *device)
{
	struct gpu_number *readings = device->readings;
	const struct gpu_number *total = &readings[GPU_VRAM_TOTAL_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(BOUNDS); i++) {
		struct gpu_number *number = &readings[BOUNDS[i].reading];

		if (!number->error &&
		    !(number->value >= BOUNDS[i].lowest && number->value <= BOUNDS[i].highest))
			*number = gpu_absent(EIO);
	}
	if (!total->error && readings[GPU_VRAM_USED_BYTES].value > total->value)
		readings[GPU_VRAM_USED_BYTES] = gpu_absent(EIO);
	if (readings[GPU_ENERGY_JOULES].error && device->energy_source == GPU_ENERGY_COUNTER)
		device->energy_source = GPU_ENERGY_NONE;
}

void gpu_drop_impossible(struct gpu_survey *survey)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		check_readings(&survey->devices[i]);
	for (int64_t i = 0; i < survey->process_count; i++) {
		struct gpu_process *process = &survey->processes[i];
		struct gpu_number total = survey->devices[process->device].readings[GPU_VRAM_TOTAL_BYTES];

		/* A process cannot hold more than the device has. */
		if (!process->vram_bytes.error &&
		    process->vram_bytes.value > (total.error ? 1e15 : total.value))
			process->vram_bytes = gpu_absent(EIO);
	}
}
