/* Identity and readings of one NVIDIA device by NVML; see nvidia_device.h. */
#include "gpu/nvidia_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "gpu/vendor.h"

enum { SLOW_PASSES = 5, KIB = 1024, KILOBYTE = 1000 };

/* All bits of a 32-bit or a 64-bit field are set where the driver knows nothing, although the call succeeds. */
static struct gpu_number gpu_number_of(int result, double value, double scale)
{
	if (result != NVML_SUCCESS)
		return gpu_absent(nvml_errno(result));
	return value == (double)UINT32_MAX || value == (double)NVML_NOT_AVAILABLE ? gpu_absent(EOPNOTSUPP)
										  : gpu_value(value * scale);
}

/* ---- readings that differ only in the function ----------------------------------------------------- */

static struct gpu_number read_u32(nvml_device_u32 *function, nvml_device handle, double scale)
{
	unsigned value = 0;
	int result = function(handle, &value);

	return gpu_number_of(result, value, scale);
}

static struct gpu_number read_u64(nvml_device_u64 *function, nvml_device handle, double scale)
{
	unsigned long long value = 0;
	int result = function(handle, &value);

	return gpu_number_of(result, (double)value, scale);
}

static struct gpu_number read_first(nvml_device_two_u32 *function, nvml_device handle, double scale)
{
	unsigned first = 0, second = 0;
	int result = function(handle, &first, &second);

	return gpu_number_of(result, first, scale);
}

static struct gpu_number read_kind(nvml_device_kind_u32 *function, nvml_device handle, unsigned kind,
				   double scale)
{
	unsigned value = 0;
	int result = function(handle, kind, &value);

	return gpu_number_of(result, value, scale);
}

static void read_readings(const struct nvml *nvml, nvml_device handle, struct gpu_device *device, bool slow)
{
	enum { EACH_PASS, RARELY };

#define READ(id, call, when, reading) \
	if (nvml->call && (slow || (when) == EACH_PASS)) \
		device->readings[id] = reading;
#define NVML_U32(id, call, scale, when, ...) READ(id, call, when, read_u32(nvml->call, handle, scale))
#define NVML_U64(id, call, scale, when, ...) READ(id, call, when, read_u64(nvml->call, handle, scale))
#define NVML_PAIR(id, call, scale, when, ...) READ(id, call, when, read_first(nvml->call, handle, scale))
#define NVML_KIND(id, call, kind, scale, when, ...) \
	READ(id, call, when, read_kind(nvml->call, handle, kind, scale))
#include "gpu/readings.def"
#undef READ
	if (device->readings[GPU_PERFORMANCE_STATE].value == (double)NVML_PERFORMANCE_STATE_UNKNOWN)
		device->readings[GPU_PERFORMANCE_STATE] = gpu_absent(EOPNOTSUPP);
	device->energy_source =
		device->readings[GPU_ENERGY_JOULES].error ? GPU_ENERGY_NONE : GPU_ENERGY_COUNTER;
}

/* ---- the others ------------------------------------------------------------------------------------ */

static void read_memory(const struct nvml *nvml, nvml_device handle, struct gpu_device *device)
{
	struct nvml_memory_v2 v2 = {.version = NVML_RECORD_VERSION(struct nvml_memory_v2, 2)};
	struct nvml_memory_v1 v1;
	int result = nvml->memory_v2 ? nvml->memory_v2(handle, &v2) : NVML_FUNCTION_NOT_FOUND;

	/*
	 * The first version counts memory that the driver keeps for itself as used: hundreds of MiB on an idle
	 * device.
	 */
	if (nvml_errno(result) == EOPNOTSUPP && nvml->memory_v1) {
		result = nvml->memory_v1(handle, &v1);
		v2.total = v1.total;
		v2.used = v1.used;
	}
	/* The total memory of a device that is gone is still known. */
	if (result == NVML_SUCCESS || device->readings[GPU_VRAM_TOTAL_BYTES].error)
		device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_number_of(result, (double)v2.total, 1);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_number_of(result, (double)v2.used, 1);
	/* GB10, Jetson: the GPU uses the machine's memory and has none of its own to report. */
	if (result == NVML_SUCCESS)
		device->memory_kind = GPU_MEMORY_DEDICATED;
	else if (nvml_errno(result) == EOPNOTSUPP)
		device->memory_kind = GPU_MEMORY_UNIFIED;
}

static void read_utilization(const struct nvml *nvml, nvml_device handle, struct gpu_device *device)
{
	struct nvml_utilization both = {0, 0};
	int result = nvml->utilization ? nvml->utilization(handle, &both) : NVML_FUNCTION_NOT_FOUND;

	device->readings[GPU_UTILIZATION_PCT] = gpu_number_of(result, both.gpu, 1);
	device->readings[GPU_MEMORY_UTILIZATION_PCT] = gpu_number_of(result, both.memory, 1);
}

static void read_ecc(const struct nvml *nvml, nvml_device handle, struct gpu_device *device)
{
	unsigned long long count = 0;
	int result;

	if (!nvml->ecc_errors)
		return;
	result = nvml->ecc_errors(handle, NVML_ECC_CORRECTED, NVML_ECC_VOLATILE, &count);
	device->readings[GPU_ECC_CORRECTED_ERRORS] = gpu_number_of(result, (double)count, 1);
	result = nvml->ecc_errors(handle, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &count);
	device->readings[GPU_ECC_UNCORRECTED_ERRORS] = gpu_number_of(result, (double)count, 1);
}

/* Ampere and later. A row may be replaced at the next reset only, or not at all. */
static void read_remapped_rows(const struct nvml *nvml, nvml_device handle, struct gpu_device *device)
{
	static const enum gpu_reading READINGS[] = {GPU_REMAPPED_ROWS_CORRECTED,
						    GPU_REMAPPED_ROWS_UNCORRECTED, GPU_REMAP_PENDING,
						    GPU_REMAP_FAILED};
	unsigned values[ARRAY_SIZE(READINGS)] = {0};
	int result;

	if (!nvml->remapped_rows)
		return;
	result = nvml->remapped_rows(handle, &values[0], &values[1], &values[2], &values[3]);
	for (size_t i = 0; i < ARRAY_SIZE(READINGS); i++)
		device->readings[READINGS[i]] = gpu_number_of(result, values[i], 1);
}

static int64_t field_bytes(const struct nvml_field_value *value)
{
	uint64_t kib = value->type == NVML_U32 ? value->value.u32 : value->value.u64;

	if (value->result != NVML_SUCCESS || value->type == NVML_DOUBLE || kib == UINT32_MAX ||
	    kib > INT64_MAX / KIB)
		return -1;
	return (int64_t)kib * KIB;
}

static struct gpu_number rate_of_bytes(int64_t bytes, int64_t before, int64_t elapsed_ns)
{
	if (bytes < 0)
		return gpu_absent(EOPNOTSUPP);
	if (before < 0 || elapsed_ns <= 0 || bytes < before)
		return gpu_absent(EAGAIN);
	return gpu_value((double)(bytes - before) / ns_to_secs(elapsed_ns));
}

static void read_nvlink(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_device *device,
			int64_t now_ns)
{
	struct nvml_field_value values[] = {
		{.field = NVML_FIELD_NVLINK_SENT_KIB, .scope = NVML_ALL_LINKS, .result = NVML_NOT_SUPPORTED},
		{.field = NVML_FIELD_NVLINK_RECEIVED_KIB,
		 .scope = NVML_ALL_LINKS,
		 .result = NVML_NOT_SUPPORTED},
	};
	int64_t sent, received, elapsed_ns = now_ns - nvidia->nvlink_at_ns;

	if (!nvml->field_values ||
	    nvml->field_values(nvidia->handle, ARRAY_SIZE(values), values) != NVML_SUCCESS)
		return;
	sent = field_bytes(&values[0]);
	received = field_bytes(&values[1]);
	device->readings[GPU_NVLINK_SENT_BYTES_PER_SEC] =
		rate_of_bytes(sent, nvidia->nvlink_sent_bytes, elapsed_ns);
	device->readings[GPU_NVLINK_RECEIVED_BYTES_PER_SEC] =
		rate_of_bytes(received, nvidia->nvlink_received_bytes, elapsed_ns);
	nvidia->nvlink_sent_bytes = sent;
	nvidia->nvlink_received_bytes = received;
	nvidia->nvlink_at_ns = now_ns;
}

static void read_pcie(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_device *device,
		      bool measure)
{
	if (!nvml->pcie_throughput) {
		nvidia->pcie_sent = nvidia->pcie_received = gpu_absent(EOPNOTSUPP);
	} else if (measure && !nvidia->no_pcie) {
		nvidia->pcie_sent =
			read_kind(nvml->pcie_throughput, nvidia->handle, NVML_PCIE_SENT, KILOBYTE);
		/* If a device cannot report one direction, do not wait for the other. */
		nvidia->no_pcie = nvidia->pcie_sent.error == EOPNOTSUPP;
		nvidia->pcie_received = nvidia->no_pcie ? nvidia->pcie_sent
							: read_kind(nvml->pcie_throughput, nvidia->handle,
								    NVML_PCIE_RECEIVED, KILOBYTE);
	}
	device->readings[GPU_PCIE_SENT_BYTES_PER_SEC] = nvidia->pcie_sent;
	device->readings[GPU_PCIE_RECEIVED_BYTES_PER_SEC] = nvidia->pcie_received;
}

void nvidia_device_open(const struct nvml *nvml, struct nvidia_device *nvidia)
{
	nvidia->nvlink_sent_bytes = nvidia->nvlink_received_bytes = -1;
	nvidia->pcie_sent = nvidia->pcie_received = gpu_absent(EAGAIN);
	if (nvidia->is_instance)
		nvidia_gpm_open_instance(nvml, nvidia->whole, nvidia->gpu_instance, &nvidia->gpm);
	else
		nvidia_gpm_open(nvml, nvidia->handle, &nvidia->gpm);
}

void nvidia_device_close(const struct nvml *nvml, struct nvidia_device *nvidia)
{
	free(nvidia->held);
	nvidia->held = NULL;
	nvidia_gpm_close(nvml, &nvidia->gpm);
}

/* ---- reading a device ------------------------------------------------------------------------------ */

static void all_absent(struct gpu_device *device, int error)
{
	for (int i = GPU_UTILIZATION_PCT; i < GPU_BUSY_SECS; i++)
		device->readings[i] = gpu_absent(error);
}

/* A device that has fallen off the bus is asked less and less often, because the driver may answer slowly. */
static int device_lost(struct nvidia_device *nvidia, struct gpu_device *device)
{
	enum { LONGEST_PAUSE = 60 };

	all_absent(device, ENODEV);
	device->tenant_count = -1;
	device->pids = GPU_PIDS_UNKNOWN;
	nvidia->lost_pause = nvidia->lost_pause ? nvidia->lost_pause * 2 : 1;
	if (nvidia->lost_pause > LONGEST_PAUSE)
		nvidia->lost_pause = LONGEST_PAUSE;
	nvidia->lost_in = nvidia->lost_pause;
	return -ENODEV;
}

int nvidia_read_device(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_device *device,
		       int64_t now_ns, int64_t sampled_ns, bool measure_pcie)
{
	bool slow = nvidia->slow_in-- <= 0;

	if (nvidia->lost_in > 0) {
		nvidia->lost_in--;
		return -ENODEV;
	}
	if (slow)
		nvidia->slow_in = SLOW_PASSES - 1;
	read_memory(nvml, nvidia->handle, device);
	if (device->readings[GPU_VRAM_USED_BYTES].error == ENODEV)
		return device_lost(nvidia, device);
	if (nvidia->is_instance) {
		nvidia_read_gpm(nvml, &nvidia->gpm, device, sampled_ns);
		return 0;
	}
	read_utilization(nvml, nvidia->handle, device);
	read_readings(nvml, nvidia->handle, device, slow);
	if (device->readings[GPU_UTILIZATION_PCT].error == ENODEV ||
	    device->readings[GPU_POWER_WATTS].error == ENODEV)
		return device_lost(nvidia, device);
	if (slow) {
		read_ecc(nvml, nvidia->handle, device);
		read_remapped_rows(nvml, nvidia->handle, device);
	}
	read_nvlink(nvml, nvidia, device, now_ns);
	device->readings[GPU_PCIE_SENT_BYTES_PER_SEC] = device->readings[GPU_PCIE_RECEIVED_BYTES_PER_SEC] =
		gpu_absent(EOPNOTSUPP);
	nvidia_read_gpm(nvml, &nvidia->gpm, device, sampled_ns);
	/* GPM has the bytes of the whole interval, and nothing waits for them. */
	if (device->readings[GPU_PCIE_SENT_BYTES_PER_SEC].error ||
	    device->readings[GPU_PCIE_RECEIVED_BYTES_PER_SEC].error)
		read_pcie(nvml, nvidia, device, measure_pcie);
	nvidia->lost_pause = 0;
	return 0;
}

/* ---- identity -------------------------------------------------------------------------------------- */

static void read_device_text(nvml_device_text *function, nvml_device handle, char *ret_text, unsigned size)
{
	if (!function || function(handle, ret_text, size) != NVML_SUCCESS)
		ret_text[0] = '\0';
	ret_text[size - 1] = '\0';
}

static void add_versions(const struct nvml *nvml, struct gpu_device *device)
{
	char text[GPU_TEXT_SIZE] = "";
	int version = 0;

	if (nvml->driver_version && nvml->driver_version(text, sizeof text) == NVML_SUCCESS)
		gpu_device_add_detail(device, "driver_version", text);
	if (nvml->cuda_version && nvml->cuda_version(&version) == NVML_SUCCESS) {
		snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
		gpu_device_add_detail(device, "cuda_version", text);
	}
}

static void add_details(const struct nvml *nvml, nvml_device handle, struct gpu_device *device)
{
	struct gpu_number ecc =
		nvml->ecc_mode ? read_first(nvml->ecc_mode, handle, 1) : gpu_absent(EOPNOTSUPP);
	char text[GPU_TEXT_SIZE];
	int major = 0, minor = 0;

	add_versions(nvml, device);
	read_device_text(nvml->vbios, handle, text, sizeof text);
	if (*text)
		gpu_device_add_detail(device, "vbios_version", text);
	if (nvml->compute_capability && nvml->compute_capability(handle, &major, &minor) == NVML_SUCCESS) {
		snprintf(text, sizeof text, "%d.%d", major, minor);
		gpu_device_add_detail(device, "compute_capability", text);
	}
	if (!ecc.error)
		gpu_device_add_detail(device, "ecc_mode", ecc.value > 0 ? "on" : "off");
}

/*
 * Sums over time are kept under this UUID. The device's address and the instance number identify it just as
 * well.
 */
static void make_up_uuid(const struct nvml *nvml, const struct nvidia_device *nvidia,
			 struct gpu_device *device)
{
	unsigned compute_instance = 0;

	if (!nvidia->is_instance) {
		snprintf(device->uuid, sizeof device->uuid, "nvidia-%s", device->host_id);
		return;
	}
	if (nvml->compute_instance)
		(void)nvml->compute_instance(nvidia->handle, &compute_instance);
	snprintf(device->uuid, sizeof device->uuid, "nvidia-%s/%u/%u", device->host_id, nvidia->gpu_instance,
		 compute_instance);
}

void nvidia_read_identity(const struct nvml *nvml, const struct nvidia_device *nvidia,
			  struct gpu_device *device)
{
	struct nvml_pci pci = {.domain = 0};
	unsigned cores = 0, minor = 0;
	char text[GPU_TEXT_SIZE];

	read_device_text(nvml->name, nvidia->handle, device->name, sizeof device->name);
	read_device_text(nvml->uuid, nvidia->handle, device->uuid, sizeof device->uuid);
	if (nvml->pci && nvml->pci(nvidia->whole, &pci) == NVML_SUCCESS) {
		snprintf(device->host_id, sizeof device->host_id, "%04x:%02x:%02x.0", pci.domain, pci.bus,
			 pci.device);
		snprintf(text, sizeof text, "%04x:%04x", pci.device_and_vendor & 0xffff,
			 pci.device_and_vendor >> 16);
		if (!nvidia->is_instance)
			gpu_device_add_detail(device, "pci_id", text);
	} else {
		snprintf(device->host_id, sizeof device->host_id, "%lld", (long long)device->index);
	}
	if (!*device->uuid)
		make_up_uuid(nvml, nvidia, device);
	if (nvml->minor_number && nvml->minor_number(nvidia->whole, &minor) == NVML_SUCCESS)
		device->file_number = minor;
	if (nvidia->is_instance)
		return;
	if (nvml->core_count && nvml->core_count(nvidia->handle, &cores) == NVML_SUCCESS)
		device->readings[GPU_CORE_COUNT] = gpu_value(cores);
	add_details(nvml, nvidia->handle, device);
}
