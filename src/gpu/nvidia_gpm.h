/*
 * GPM of NVML (Hopper and later): what the units of a device or a MIG instance did between two samples of its counters.
 * No CUDA context is made, and other tools may sample as well, unless the driver lends the counters to one alone.
 */
#pragma once

#include "gpu/nvml_library.h"
#include "gpu/survey.h"

enum { GPM_SAMPLES = 3 };

struct nvidia_gpm {
	nvml_device whole;
	bool is_instance;
	unsigned gpu_instance;
	nvml_gpm_sample samples[GPM_SAMPLES];
	int base;   /* the newest when the recorder took its last sample: readings are means since then */
	int latest; /* of the last pass; -1: none */
	int64_t sampled_ns; /* the recorder's sample that base belongs to */
	int error;          /* errno: the device has no GPM */
};

void nvidia_gpm_open(const struct nvml *nvml, nvml_device whole, struct nvidia_gpm *gpm);
/* The same for an instance of the device. */
void nvidia_gpm_open_instance(const struct nvml *nvml, nvml_device whole, unsigned gpu_instance,
			      struct nvidia_gpm *gpm);
void nvidia_gpm_close(const struct nvml *nvml, struct nvidia_gpm *gpm);

/*
 * Fills the NVML_GPM rows of gpu/readings.def, and the utilisation of an instance. sampled_ns: when the recorder last took
 * a sample; 0: means are since the last pass.
 */
void nvidia_read_gpm(const struct nvml *nvml, struct nvidia_gpm *gpm, struct gpu_device *device,
		     int64_t sampled_ns);
