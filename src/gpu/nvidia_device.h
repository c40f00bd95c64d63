/* One NVIDIA device, or one MIG instance of it. */
#pragma once

#include "gpu/nvidia_gpm.h"
#include "gpu/nvml_library.h"
#include "gpu/survey.h"

struct nvidia_device {
	nvml_device handle;
	nvml_device whole; /* the device of this instance; `handle` for a whole device */
	bool is_instance;
	bool is_divided; /* MIG mode: its instances do the work */
	unsigned gpu_instance;

	/* For rates; -1: not read yet. */
	int64_t nvlink_sent_bytes;
	int64_t nvlink_received_bytes;
	int64_t nvlink_at_ns;
	struct gpu_number pcie_sent;
	struct gpu_number pcie_received;
	bool no_pcie;

	struct nvidia_gpm gpm;

	int xid_error; /* errno: the driver does not tell this device's errors */
	int64_t xid_count;
	int64_t last_xid;

	uint64_t last_seen_us;    /* newest sample of process utilisation */
	bool has_samples;         /* that is one, not the time of the first look */
	struct nvidia_held *held; /* the last activity of processes; nvidia_processes.c */
	int slow_in;              /* passes until rarely changing values are read again */
	int lost_in;              /* passes until a missing device is asked again */
	int lost_pause;
};

/* Reads texts, sizes and details: everything that does not change. */
void nvidia_read_identity(const struct nvml *nvml, const struct nvidia_device *nvidia,
			  struct gpu_device *device);

/*
 * Reads the values that change. Each counter is asked for on its own, so a counter that the device lacks costs
 * only its own field. `measure_pcie` allows the two calls that take 20 ms each. sampled_ns: see nvidia_read_gpm(). Returns 0, or
 * -ENODEV when the device has gone.
 */
int nvidia_read_device(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_device *device,
		       int64_t now_ns, int64_t sampled_ns, bool measure_pcie);

void nvidia_device_open(const struct nvml *nvml, struct nvidia_device *nvidia);
void nvidia_device_close(const struct nvml *nvml, struct nvidia_device *nvidia);
