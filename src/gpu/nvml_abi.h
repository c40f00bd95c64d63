/*
 * The interface of libnvidia-ml.so.1: the documented records and numbers that we use, described in our own
 * words. https://docs.nvidia.com/deploy/nvml-api The library is never linked. Records have changed their size
 * between versions, so each version is a type of its own, and arrays are walked by the size of the version that
 * answered, never by the newest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct nvml_device *nvml_device;
typedef struct nvml_gpm_sample *nvml_gpm_sample;
typedef struct nvml_event_set *nvml_event_set;

enum nvml_return {
	NVML_SUCCESS = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_LIB_RM_VERSION_MISMATCH = 18,
	NVML_IN_USE = 19,
	NVML_MEMORY = 20,
	NVML_NO_DATA = 21,
	NVML_VGPU_ECC_NOT_SUPPORTED = 22,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_DEPRECATED = 26,
	NVML_NOT_READY = 27,
	NVML_GPU_NOT_FOUND = 28,
};

/* Records with a version include their size in it. */
#define NVML_RECORD_VERSION(type, version) ((uint32_t)(sizeof(type) | ((uint32_t)(version) << 24)))

#define NVML_NOT_AVAILABLE UINT64_MAX /* of 64-bit fields: the driver does not report it */
#define NVML_NO_INSTANCE UINT32_MAX   /* of MIG instance fields: not in MIG mode */

enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_PCIE_SENT = 0, NVML_PCIE_RECEIVED = 1 };
enum { NVML_ECC_CORRECTED = 0, NVML_ECC_UNCORRECTED = 1 };
enum { NVML_ECC_VOLATILE = 0 };
enum { NVML_PERFORMANCE_STATE_UNKNOWN = 32 };

/*
 * All versions of nvmlPciInfo_t begin with a text of 16 bytes and these fields. The spare room is enough for
 * each.
 */
struct nvml_pci {
	char old_bus_id[16];
	uint32_t domain;
	uint32_t bus;
	uint32_t device;
	uint32_t device_and_vendor; /* vendor in the low half */
	uint32_t spare[32];
};

/* nvmlMemory_t; `used` includes memory that the driver keeps for itself. */
struct nvml_memory_v1 {
	uint64_t total;
	uint64_t free;
	uint64_t used;
};

struct nvml_memory_v2 {
	uint32_t version;
	uint64_t total;
	uint64_t reserved; /* by driver and firmware */
	uint64_t free;
	uint64_t used; /* the memory that nvidia-smi shows */
};

struct nvml_utilization {
	uint32_t gpu;
	uint32_t memory;
};

struct nvml_process_v1 {
	uint32_t pid;
	uint64_t used_bytes;
};

struct nvml_process_v2 {
	uint32_t pid;
	uint64_t used_bytes;
	uint32_t gpu_instance;
	uint32_t compute_instance;
};

/* Some drivers of series 535 answer the third version of the call with this longer record. */
struct nvml_process_v3_long {
	uint32_t pid;
	uint64_t used_bytes;
	uint32_t gpu_instance;
	uint32_t compute_instance;
	uint64_t protected_bytes;
};

/* The record of nvmlDeviceGetProcessUtilization. */
struct nvml_process_utilization_v1 {
	uint32_t pid;
	uint64_t at_us; /* since 1970 */
	uint32_t sm_pct;
	uint32_t memory_pct;
	uint32_t encoder_pct;
	uint32_t decoder_pct;
};

/* The record of nvmlDeviceGetProcessesUtilizationInfo, the only call that Blackwell and later answer. */
struct nvml_process_utilization_v2 {
	uint64_t at_us;
	uint32_t pid;
	uint32_t sm_pct;
	uint32_t memory_pct;
	uint32_t encoder_pct;
	uint32_t decoder_pct;
	uint32_t jpeg_pct;
	uint32_t optical_flow_pct;
};

struct nvml_processes_utilization {
	uint32_t version;
	uint32_t count;
	uint64_t last_seen_us;
	struct nvml_process_utilization_v2 *samples;
};

struct nvml_attributes {
	uint32_t multiprocessor_count;
	uint32_t copy_engine_count;
	uint32_t decoder_count;
	uint32_t encoder_count;
	uint32_t jpeg_count;
	uint32_t optical_flow_count;
	uint32_t gpu_slice_count;
	uint32_t compute_slice_count;
	uint64_t memory_mib;
};

enum nvml_field {
	NVML_FIELD_NVLINK_SENT_KIB = 138,
	NVML_FIELD_NVLINK_RECEIVED_KIB = 139,
};
#define NVML_ALL_LINKS UINT32_MAX

enum nvml_value_type { NVML_DOUBLE = 0, NVML_U32 = 1, NVML_ULONG = 2, NVML_U64 = 3, NVML_I64 = 4 };

struct nvml_field_value {
	uint32_t field;
	uint32_t scope;
	int64_t at_us;
	int64_t latency_us;
	uint32_t type; /* enum nvml_value_type */
	uint32_t result;
	union {
		double real;
		uint32_t u32;
		uint64_t u64;
		int64_t i64;
	} value;
};

enum { NVML_EVENT_XID = 8 };

struct nvml_event {
	nvml_device device;
	uint64_t kind;
	uint64_t data; /* the number of the Xid */
	uint32_t gpu_instance;
	uint32_t compute_instance;
};

enum { NVML_GPM_GRAPHICS_UTILIZATION = 1, NVML_GPM_VERSION = 1, NVML_GPM_METRICS = 512 };

struct nvml_gpm_support {
	uint32_t version;
	uint32_t supported;
};

struct nvml_gpm_metric {
	uint32_t metric;
	uint32_t result;
	double value;
	const char *names[3];
};

/* The library fills as many metrics as requested. The room after them is never touched. */
struct nvml_gpm_request {
	uint32_t version;
	uint32_t metric_count;
	nvml_gpm_sample earlier;
	nvml_gpm_sample later;
	struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};

_Static_assert(sizeof(struct nvml_memory_v1) == 24 && sizeof(struct nvml_memory_v2) == 40, "NVML ABI");
_Static_assert(sizeof(struct nvml_process_v1) == 16 && sizeof(struct nvml_process_v2) == 24, "NVML ABI");
_Static_assert(sizeof(struct nvml_process_v3_long) == 32, "NVML ABI");
_Static_assert(sizeof(struct nvml_process_utilization_v1) == 32, "NVML ABI");
_Static_assert(sizeof(struct nvml_process_utilization_v2) == 40, "NVML ABI");
_Static_assert(sizeof(struct nvml_processes_utilization) == 24, "NVML ABI");
_Static_assert(sizeof(struct nvml_attributes) == 40 && sizeof(struct nvml_field_value) == 40, "NVML ABI");
_Static_assert(sizeof(struct nvml_event) == 32, "NVML ABI");
_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "NVML ABI");
