/*
 * device/gpu_metrics of amdgpu: a record that the firmware fills, here its forms of cards and of processors with graphics. The kernel describes each
 * revision in drivers/gpu/drm/amd/include/kgd_pp_interface.h.
 */
#pragma once

#include "gpu/survey.h"

/* How long the clocks were lowered for a reason, in cycles of the firmware (MI300, revision 6). */
struct amd_residency {
	bool known;
	uint32_t cycles, prochot, power, socket_heat, regulator_heat, memory_heat;
};

struct amd_metrics {
	struct gpu_number utilization_pct;
	struct gpu_number memory_utilization_pct;
	struct gpu_number energy_joules; /* a counter */
	struct gpu_number frequency_hz;  /* of the fastest part */
	struct gpu_number memory_frequency_hz;
	struct gpu_number pcie_lanes;
	struct gpu_number pcie_generation;
	struct gpu_number throttle_reasons; /* a set of GPU_THROTTLE_ bits */
	struct amd_residency residency;
};

/* Returns 0; -EBADMSG: not such a record; -EOPNOTSUPP: a form or revision that we do not know. */
int parse_amd_metrics(const void *bytes, size_t length, struct amd_metrics *ret_metrics);

/* The reasons between two readings. EAGAIN: no time has passed, or there is no earlier reading. */
struct gpu_number amd_throttle_between(const struct amd_residency *before, const struct amd_residency *now);
