/* Lists the processes on an NVIDIA device and how much of it each uses. */
#pragma once

#include "gpu/nvidia_device.h"

/* A buffer that grows to the longest list. Zero it before the first use. */
struct nvidia_records {
	void *bytes;
	size_t capacity;
};

void nvidia_records_done(struct nvidia_records *records);

/*
 * Adds the processes of survey->devices[index]: each pid once, with the memory that the lists of compute, graphics
 * and MPS clients agree on, and with the utilisation since the last time. Sets the device's tenant_count and pids;
 * a device whose lists cannot be had keeps tenant_count -1.
 */
void nvidia_read_processes(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_survey *survey,
			   int64_t index, int64_t realtime_us, struct nvidia_records *records);
