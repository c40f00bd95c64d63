/* NVML as a table of functions, any of which may be missing. */
#pragma once

#include "gpu/nvml_abi.h"

typedef int nvml_device_text(nvml_device device, char *ret_text, unsigned size);
typedef int nvml_device_u32(nvml_device device, unsigned *ret_value);
typedef int nvml_device_two_u32(nvml_device device, unsigned *ret_first, unsigned *ret_second);
typedef int nvml_device_u64(nvml_device device, unsigned long long *ret_value);
typedef int nvml_device_kind_u32(nvml_device device, unsigned kind, unsigned *ret_value);
typedef int nvml_device_processes(nvml_device device, unsigned *count, void *ret_records);

enum { NVML_LISTS = 3 }; /* compute, graphics, MPS */

struct nvml {
	void *library;

	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int result);
	int (*driver_version)(char *ret_text, unsigned size);
	int (*cuda_version)(int *ret_version);

	int (*device_count)(unsigned *ret_count);
	int (*device_by_index)(unsigned index, nvml_device *ret_device);
	nvml_device_text *name;
	nvml_device_text *uuid;
	nvml_device_text *vbios;
	int (*pci)(nvml_device device, struct nvml_pci *ret_pci);
	int (*compute_capability)(nvml_device device, int *ret_major, int *ret_minor);
	nvml_device_two_u32 *ecc_mode; /* now, after the next reset */
	nvml_device_u32 *core_count;
	nvml_device_u32 *minor_number; /* N of /dev/nvidiaN */

	int (*memory_v1)(nvml_device device, struct nvml_memory_v1 *ret_memory);
	int (*memory_v2)(nvml_device device, struct nvml_memory_v2 *ret_memory);
	int (*utilization)(nvml_device device, struct nvml_utilization *ret_utilization);
	nvml_device_kind_u32 *pcie_throughput; /* KB/s, measured for 20 ms while the caller waits */
#define NVML_U32(id, call, ...) nvml_device_u32 *call;
#define NVML_U64(id, call, ...) nvml_device_u64 *call;
#define NVML_PAIR(id, call, ...) nvml_device_two_u32 *call;
#define NVML_KIND(id, call, ...) nvml_device_kind_u32 *call;
#include "gpu/readings.def"
	int (*ecc_errors)(nvml_device device, unsigned kind, unsigned period, unsigned long long *ret_count);
	int (*remapped_rows)(nvml_device device, unsigned *ret_corrected, unsigned *ret_uncorrected,
			     unsigned *ret_pending, unsigned *ret_failed);
	int (*field_values)(nvml_device device, int count, struct nvml_field_value *values);

	nvml_device_processes *processes[NVML_LISTS];
	int processes_version[NVML_LISTS]; /* 0: third, 1: second, 2: first */
	int (*process_utilization)(nvml_device device, struct nvml_process_utilization_v1 *ret_samples,
				   unsigned *count, unsigned long long last_seen_us);
	int (*processes_utilization)(nvml_device device, struct nvml_processes_utilization *request);

	nvml_device_two_u32 *mig_mode; /* now, after the next reset */
	nvml_device_u32 *mig_max_count;
	int (*mig_by_index)(nvml_device device, unsigned index, nvml_device *ret_instance);
	nvml_device_u32 *gpu_instance;
	nvml_device_u32 *compute_instance;
	int (*attributes)(nvml_device device, struct nvml_attributes *ret_attributes);

	int (*event_set)(nvml_event_set *ret_set);
	int (*event_set_free)(nvml_event_set set);
	int (*register_events)(nvml_device device, unsigned long long kinds, nvml_event_set set);
	int (*next_event)(nvml_event_set set, struct nvml_event *ret_event, unsigned timeout_ms);

	int (*gpm_support)(nvml_device device, struct nvml_gpm_support *ret_support);
	int (*gpm_alloc)(nvml_gpm_sample *ret_sample);
	int (*gpm_free)(nvml_gpm_sample sample);
	int (*gpm_sample)(nvml_device device, nvml_gpm_sample sample);
	int (*gpm_mig_sample)(nvml_device device, unsigned gpu_instance, nvml_gpm_sample sample);
	int (*gpm_metrics)(struct nvml_gpm_request *request);
};

/*
 * Loads the library (TRACKER_NVML_LIBRARY, or from the drivers' usual places) and initialises it. The library
 * stays loaded, because vendor libraries crash when they are unloaded. Errors: -ENOENT no library, -ENXIO no
 * driver, -EPROTO library and driver do not match, or others of nvml_errno(). ret_message is then one line,
 * constant until the next call.
 */
int nvml_open(struct nvml *ret_nvml, const char **ret_message);

/* Maps an answer of NVML to a positive errno; 0 for success. See struct gpu_number. */
int nvml_errno(int result);
