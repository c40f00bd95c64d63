/* Finds NVML and its functions; see nvml_library.h. */
#include "gpu/nvml_library.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "gpu/loader.h"

#define FUNCTION(field, ...) \
	{ \
		offsetof(struct nvml, field), SYMBOL_NO_VERSION, \
		{ \
			__VA_ARGS__ \
		} \
	}
#define PROCESS_LIST(which, name) \
	{ \
		offsetof(struct nvml, processes[which]), offsetof(struct nvml, processes_version[which]), \
		{ \
			name "_v3", name "_v2", name \
		} \
	}

static const struct symbol SYMBOLS[] = {
#define NVML_U32(id, call, scale, when, ...) FUNCTION(call, __VA_ARGS__),
#define NVML_U64(id, call, scale, when, ...) FUNCTION(call, __VA_ARGS__),
#define NVML_PAIR(id, call, scale, when, ...) FUNCTION(call, __VA_ARGS__),
#define NVML_KIND(id, call, kind, scale, when, ...) FUNCTION(call, __VA_ARGS__),
#include "gpu/readings.def"
	FUNCTION(init, "nvmlInit_v2", "nvmlInit"),
	FUNCTION(shutdown, "nvmlShutdown"),
	FUNCTION(error_string, "nvmlErrorString"),
	FUNCTION(driver_version, "nvmlSystemGetDriverVersion"),
	FUNCTION(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"),
	FUNCTION(device_count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
	FUNCTION(device_by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
	FUNCTION(name, "nvmlDeviceGetName"),
	FUNCTION(uuid, "nvmlDeviceGetUUID"),
	FUNCTION(vbios, "nvmlDeviceGetVbiosVersion"),
	FUNCTION(pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"),
	FUNCTION(compute_capability, "nvmlDeviceGetCudaComputeCapability"),
	FUNCTION(ecc_mode, "nvmlDeviceGetEccMode"),
	FUNCTION(minor_number, "nvmlDeviceGetMinorNumber"),
	FUNCTION(core_count, "nvmlDeviceGetNumGpuCores"),
	FUNCTION(memory_v1, "nvmlDeviceGetMemoryInfo"),
	FUNCTION(memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	FUNCTION(utilization, "nvmlDeviceGetUtilizationRates"),
	FUNCTION(pcie_throughput, "nvmlDeviceGetPcieThroughput"),
	FUNCTION(ecc_errors, "nvmlDeviceGetTotalEccErrors"),
	FUNCTION(remapped_rows, "nvmlDeviceGetRemappedRows"),
	FUNCTION(field_values, "nvmlDeviceGetFieldValues"),
	PROCESS_LIST(0, "nvmlDeviceGetComputeRunningProcesses"),
	PROCESS_LIST(1, "nvmlDeviceGetGraphicsRunningProcesses"),
	PROCESS_LIST(2, "nvmlDeviceGetMPSComputeRunningProcesses"),
	FUNCTION(process_utilization, "nvmlDeviceGetProcessUtilization"),
	FUNCTION(processes_utilization, "nvmlDeviceGetProcessesUtilizationInfo"),
	FUNCTION(mig_mode, "nvmlDeviceGetMigMode"),
	FUNCTION(mig_max_count, "nvmlDeviceGetMaxMigDeviceCount"),
	FUNCTION(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex"),
	FUNCTION(gpu_instance, "nvmlDeviceGetGpuInstanceId"),
	FUNCTION(compute_instance, "nvmlDeviceGetComputeInstanceId"),
	FUNCTION(attributes, "nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"),
	FUNCTION(event_set, "nvmlEventSetCreate"),
	FUNCTION(event_set_free, "nvmlEventSetFree"),
	FUNCTION(register_events, "nvmlDeviceRegisterEvents"),
	FUNCTION(next_event, "nvmlEventSetWait_v2"),
	FUNCTION(gpm_support, "nvmlGpmQueryDeviceSupport"),
	FUNCTION(gpm_alloc, "nvmlGpmSampleAlloc"),
	FUNCTION(gpm_free, "nvmlGpmSampleFree"),
	FUNCTION(gpm_sample, "nvmlGpmSampleGet"),
	FUNCTION(gpm_mig_sample, "nvmlGpmMigSampleGet"),
	FUNCTION(gpm_metrics, "nvmlGpmMetricsGet"),
};

int nvml_errno(int result)
{
	switch (result) {
	case NVML_SUCCESS:
		return 0;
	case NVML_NOT_SUPPORTED:
	case NVML_FUNCTION_NOT_FOUND:
	case NVML_ARGUMENT_VERSION_MISMATCH:
	case NVML_VGPU_ECC_NOT_SUPPORTED:
	case NVML_DEPRECATED:
		return EOPNOTSUPP;
	case NVML_IN_USE:
		return EBUSY;
	case NVML_NO_PERMISSION:
		return EACCES;
	case NVML_GPU_IS_LOST:
	case NVML_RESET_REQUIRED:
	case NVML_GPU_NOT_FOUND:
		return ENODEV;
	case NVML_TIMEOUT:
		return ETIMEDOUT;
	case NVML_NOT_FOUND:
		return ENOENT;
	case NVML_INSUFFICIENT_SIZE:
		return ENOBUFS;
	case NVML_INVALID_ARGUMENT:
		return EINVAL;
	case NVML_UNINITIALIZED:
		return ENOTCONN;
	case NVML_DRIVER_NOT_LOADED:
		return ENXIO;
	case NVML_LIB_RM_VERSION_MISMATCH:
		return EPROTO;
	case NVML_MEMORY:
		return ENOMEM;
	case NVML_NO_DATA:
	case NVML_NOT_READY:
		return EAGAIN;
	default:
		return EIO;
	}
}

static void *load_nvml(const char **ret_message)
{
	static const char *const USUAL[] = {
		"libnvidia-ml.so.1",
		"/usr/lib/wsl/lib/libnvidia-ml.so.1",
		"/run/opengl-driver/lib/libnvidia-ml.so.1",
		"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
		NULL,
	};
	const char *given = secure_getenv("TRACKER_NVML_LIBRARY");
	const char *const names[] = {given, NULL};

	return load_library(given && *given ? names : USUAL, ret_message);
}

int nvml_open(struct nvml *ret_nvml, const char **ret_message)
{
	struct nvml nvml = {.library = load_nvml(ret_message)};
	int result;

	if (!nvml.library)
		return -ENOENT;
	load_symbols(nvml.library, SYMBOLS, ARRAY_SIZE(SYMBOLS), &nvml);
	if (!nvml.init || !nvml.device_count || !nvml.device_by_index) {
		*ret_message = "the library lacks nvmlInit or nvmlDeviceGetCount";
		return -ELIBBAD;
	}
	result = nvml.init();
	if (result != NVML_SUCCESS) {
		*ret_message = nvml.error_string ? nvml.error_string(result) : "nvmlInit failed";
		return -nvml_errno(result);
	}
	*ret_nvml = nvml;
	return 0;
}
