/*
 * A library that answers like libnvidia-ml.so.1, by a script (nvml_fake_script.c). NVML_FAKE_OLD builds a
 * very old version: no second or third version of any function.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_fake_script.h"

#define EXPORT __attribute__((visibility("default")))
#define ENTER(device) \
	do { \
		int result_ = enter(__func__, device); \
\
		if (result_ != NVML_SUCCESS) \
			return result_; \
	} while (0)

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static unsigned u32(unsigned usual)
{
	return script.all_bits ? UINT32_MAX : usual;
}

static uint64_t u64(uint64_t usual)
{
	return script.all_bits == 64 ? UINT64_MAX : script.all_bits ? UINT32_MAX : usual;
}

/* ---- the library ------------------------------------------------------------------------------------- */

EXPORT int nvmlInit(void)
{
	read_script();
	ENTER(NULL);
	return NVML_SUCCESS;
}

EXPORT int nvmlShutdown(void)
{
	ENTER(NULL);
	return NVML_SUCCESS;
}

EXPORT const char *nvmlErrorString(int result)
{
	return result == NVML_LIB_RM_VERSION_MISMATCH ? "Driver/library version mismatch"
	       : result == NVML_DRIVER_NOT_LOADED     ? "Driver Not Loaded"
						      : "some error";
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	ENTER(NULL);
	snprintf(text, size, "580.00.fake");
	return NVML_SUCCESS;
}

EXPORT int nvmlSystemGetCudaDriverVersion(int *version)
{
	ENTER(NULL);
	*version = 13000;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCount(unsigned *count)
{
	ENTER(NULL);
	*count = 0;
	while (device_numbered((int)*count) < DEVICES)
		++*count;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, nvml_device *device)
{
	int numbered = device_numbered((int)index);

	*device = (nvml_device)((uintptr_t)numbered + 1);
	ENTER(*device);
	return numbered < DEVICES ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetName(nvml_device device, char *text, unsigned size)
{
	ENTER(device);
	snprintf(text, size, instance_of(device) >= 0 ? "NVIDIA Fake 80GB MIG 1g.10gb" : "NVIDIA Fake 80GB");
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetUUID(nvml_device device, char *text, unsigned size)
{
	ENTER(device);
	if (instance_of(device) >= 0)
		snprintf(text, size, "MIG-%08x-0000-0000-0000-%012x", index_of(device), instance_of(device));
	else
		snprintf(text, size, "GPU-%08x-0000-0000-0000-000000000000", index_of(device));
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetPciInfo(nvml_device device, struct nvml_pci *pci)
{
	ENTER(device);
	pci->domain = 0;
	pci->bus = (uint32_t)(0x10 + index_of(device));
	pci->device = 0;
	pci->device_and_vendor = 0x233510de;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMinorNumber(nvml_device device, unsigned *minor)
{
	ENTER(device);
	*minor = u32((unsigned)index_of(device));
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetNumGpuCores(nvml_device device, unsigned *count)
{
	ENTER(device);
	*count = u32(16896);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(nvml_device device, int *major, int *minor)
{
	ENTER(device);
	*major = 9;
	*minor = 0;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetEccMode(nvml_device device, unsigned *now, unsigned *later)
{
	ENTER(device);
	*now = *later = u32(1);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory_v1 *memory)
{
	const uint64_t *bytes = script.memory[index_of(device)];

	if (index_of(device) == 0)
		read_script();
	ENTER(device);
	*memory = (struct nvml_memory_v1){bytes[0], bytes[0] - bytes[1] - bytes[2], bytes[1] + bytes[2]};
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *both)
{
	ENTER(device);
	if (script.instances[index_of(device)])
		return NVML_NOT_SUPPORTED;
	both->gpu = u32(script.utilization[index_of(device)][0]);
	both->memory = u32(script.utilization[index_of(device)][1]);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetEncoderUtilization(nvml_device device, unsigned *percent, unsigned *period)
{
	ENTER(device);
	*percent = *period = u32(0);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetDecoderUtilization(nvml_device device, unsigned *percent, unsigned *period)
{
	ENTER(device);
	*percent = *period = u32(0);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetTemperature(nvml_device device, unsigned sensor, unsigned *celsius)
{
	ENTER(device);
	*celsius = u32(40 + (unsigned)index_of(device));
	return sensor == NVML_TEMPERATURE_GPU ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetClockInfo(nvml_device device, unsigned kind, unsigned *mhz)
{
	ENTER(device);
	*mhz = u32(kind == NVML_CLOCK_MEMORY ? 3201 : 1980);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMaxClockInfo(nvml_device device, unsigned kind, unsigned *mhz)
{
	ENTER(device);
	*mhz = u32(kind == NVML_CLOCK_SM ? 2100 : 3201);
	return NVML_SUCCESS;
}

#define GIVES(name, usual) \
	EXPORT int name(nvml_device device, unsigned *value) \
	{ \
		ENTER(device); \
		*value = u32(usual); \
		return NVML_SUCCESS; \
	}
GIVES(nvmlDeviceGetCurrPcieLinkGeneration, 3)
GIVES(nvmlDeviceGetMaxPcieLinkGeneration, 5)
GIVES(nvmlDeviceGetCurrPcieLinkWidth, 8)
GIVES(nvmlDeviceGetMaxPcieLinkWidth, 16)

/* ---- events ------------------------------------------------------------------------------------------ */

static bool registered[DEVICES];

EXPORT int nvmlEventSetCreate(nvml_event_set *set)
{
	ENTER(NULL);
	memset(registered, 0, sizeof registered);
	*set = (nvml_event_set)(uintptr_t)1;
	return NVML_SUCCESS;
}

EXPORT int nvmlEventSetFree(nvml_event_set set)
{
	ENTER(NULL);
	return set ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceRegisterEvents(nvml_device device, unsigned long long kinds, nvml_event_set set)
{
	ENTER(device);
	registered[index_of(device)] = set && kinds == NVML_EVENT_XID;
	return NVML_SUCCESS;
}

EXPORT int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *event, unsigned timeout_ms)
{
	ENTER(NULL);
	if (!set || timeout_ms)
		return NVML_INVALID_ARGUMENT;
	for (int i = 0; i < DEVICES; i++) {
		if (!registered[i] || script.told_xids[i] >= script.xids[i])
			continue;
		script.told_xids[i]++;
		*event = (struct nvml_event){.device = (nvml_device)(uintptr_t)(i + 1),
					     .kind = NVML_EVENT_XID,
					     .data = script.xid[i]};
		return NVML_SUCCESS;
	}
	return NVML_TIMEOUT;
}

EXPORT int nvmlDeviceGetPcieThroughput(nvml_device device, unsigned direction, unsigned *kilobytes)
{
	ENTER(device);
	*kilobytes = u32(direction == NVML_PCIE_SENT ? 1000 : 2000);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts)
{
	ENTER(device);
	*milliwatts = u32(318500);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *milliwatts)
{
	ENTER(device);
	*milliwatts = u32(700000);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetFanSpeed(nvml_device device, unsigned *percent)
{
	ENTER(device);
	*percent = u32(30);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetPerformanceState(nvml_device device, unsigned *state)
{
	ENTER(device);
	*state = u32(0);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoules)
{
	ENTER(device);
	/* Without a value in the script, 318.5 W since 1970. */
	*millijoules = u64(script.energy[index_of(device)] ? script.energy[index_of(device)]
							   : now_us() / 1000 * 637 / 2);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *reasons)
{
	ENTER(device);
	*reasons = u64(0x4 | 0x40);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetTotalEccErrors(nvml_device device, unsigned kind, unsigned period,
				       unsigned long long *count)
{
	ENTER(device);
	*count = u64(kind == NVML_ECC_CORRECTED ? 3 : 1) + script.ecc[index_of(device)][kind];
	return period == NVML_ECC_VOLATILE ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

/* ---- processes --------------------------------------------------------------------------------------- */

static int list_processes(nvml_device device, char list, unsigned record_bytes, unsigned *count,
			  char *records)
{
	unsigned found = 0, room = *count;

	if (script.record_bytes)
		record_bytes = (unsigned)script.record_bytes;
	for (int i = 0; i < script.process_count; i++) {
		const struct process *process = &script.processes[i];
		struct nvml_process_v3_long record = {process->pid, u64(process->bytes), NVML_NO_INSTANCE,
						      NVML_NO_INSTANCE, 0};

		if (process->device != index_of(device) || process->instance != instance_of(device) ||
		    !strchr(process->lists, list) || !process->lists[0])
			continue;
		if (found < room)
			memcpy(records + (size_t)found * record_bytes, &record, record_bytes);
		found++;
	}
	*count = found;
	return found > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses(nvml_device device, unsigned *count, void *records)
{
	ENTER(device);
	return list_processes(device, 'c', sizeof(struct nvml_process_v1), count, records);
}

EXPORT int nvmlDeviceGetGraphicsRunningProcesses(nvml_device device, unsigned *count, void *records)
{
	ENTER(device);
	return list_processes(device, 'g', sizeof(struct nvml_process_v1), count, records);
}

static bool is_sampled(const struct process *process, nvml_device device, uint64_t last_seen_us,
		       uint64_t *ret_at_us)
{
	if (process->device != index_of(device) || process->instance >= 0 || process->sm < 0)
		return false;
	*ret_at_us =
		process->age_secs > 0 ? script.loaded_us - (uint64_t)(process->age_secs * 1e6) : now_us();
	if (script.sampling_secs > 0)
		*ret_at_us -= (*ret_at_us - script.loaded_us) % (uint64_t)(script.sampling_secs * 1e6);
	/* The real library returns old samples, too. */
	return process->age_secs > 0 || *ret_at_us > last_seen_us;
}

EXPORT int nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_utilization_v1 *samples,
					   unsigned *count, unsigned long long last_seen_us)
{
	unsigned found = 0, room = samples ? *count : 0;
	uint64_t at_us;

	ENTER(device);
	if (script.only_new_utilization || script.instances[index_of(device)])
		return NVML_NOT_SUPPORTED;
	for (int i = 0; i < script.process_count; i++) {
		if (!is_sampled(&script.processes[i], device, last_seen_us, &at_us))
			continue;
		if (found < room)
			samples[found] =
				(struct nvml_process_utilization_v1){script.processes[i].pid,
								     at_us,
								     u32((uint32_t)script.processes[i].sm),
								     5,
								     0,
								     0};
		found++;
	}
	*count = found;
	return !found ? NVML_NOT_FOUND : found > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* ---- functions of newer versions ----------------------------------------------------------------------- */

#ifndef NVML_FAKE_OLD

EXPORT int nvmlDeviceGetRemappedRows(nvml_device device, unsigned *corrected, unsigned *uncorrected,
				     unsigned *pending, unsigned *failed)
{
	const unsigned *rows = script.remapped[index_of(device)];

	ENTER(device);
	*corrected = u32(rows[0]);
	*uncorrected = u32(rows[1]);
	*pending = u32(rows[2]);
	*failed = u32(rows[3]);
	return NVML_SUCCESS;
}

EXPORT int nvmlInit_v2(void)
{
	return nvmlInit();
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory_v2 *memory)
{
	const uint64_t *bytes = script.memory[index_of(device)];

	if (index_of(device) == 0)
		read_script();
	ENTER(device);
	if (memory->version != NVML_RECORD_VERSION(struct nvml_memory_v2, 2))
		return NVML_ARGUMENT_VERSION_MISMATCH;
	memory->total = u64(bytes[0]);
	memory->reserved = u64(bytes[1]);
	memory->free = u64(bytes[0] - bytes[1] - bytes[2]);
	memory->used = u64(bytes[2]);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, void *records)
{
	ENTER(device);
	return list_processes(device, 'c', sizeof(struct nvml_process_v2), count, records);
}

EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned *count, void *records)
{
	ENTER(device);
	return list_processes(device, 'g', sizeof(struct nvml_process_v2), count, records);
}

EXPORT int nvmlDeviceGetMPSComputeRunningProcesses_v3(nvml_device device, unsigned *count, void *records)
{
	ENTER(device);
	return list_processes(device, 'm', sizeof(struct nvml_process_v2), count, records);
}

EXPORT int nvmlDeviceGetProcessesUtilizationInfo(nvml_device device,
						 struct nvml_processes_utilization *request)
{
	unsigned found = 0;
	uint64_t at_us;

	ENTER(device);
	if (request->version != NVML_RECORD_VERSION(struct nvml_processes_utilization, 1))
		return NVML_ARGUMENT_VERSION_MISMATCH;
	for (int i = 0; i < script.process_count; i++) {
		if (!is_sampled(&script.processes[i], device, request->last_seen_us, &at_us))
			continue;
		if (found < request->count)
			request->samples[found] = (struct nvml_process_utilization_v2){
				.at_us = at_us,
				.pid = script.processes[i].pid,
				.sm_pct = u32((uint32_t)script.processes[i].sm),
				.memory_pct = 5,
			};
		found++;
	}
	if (found > request->count) {
		request->count = found;
		return NVML_INSUFFICIENT_SIZE;
	}
	request->count = found;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetFieldValues(nvml_device device, int count, struct nvml_field_value *values)
{
	ENTER(device);
	for (int i = 0; i < count; i++) {
		bool known = values[i].scope == NVML_ALL_LINKS &&
			     (values[i].field == NVML_FIELD_NVLINK_SENT_KIB ||
			      values[i].field == NVML_FIELD_NVLINK_RECEIVED_KIB);

		values[i].result = known ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
		values[i].type = NVML_U64;
		/* 1,000 and 2,000 KiB a millisecond */
		values[i].value.u64 = u64(now_us() * (values[i].field == NVML_FIELD_NVLINK_SENT_KIB ? 1 : 2));
	}
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMigMode(nvml_device device, unsigned *now, unsigned *later)
{
	ENTER(device);
	*now = *later = u32(script.instances[index_of(device)] > 0);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(nvml_device device, unsigned *count)
{
	ENTER(device);
	*count = 7;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index, nvml_device *instance)
{
	ENTER(device);
	if ((int)index >= script.instances[index_of(device)])
		return NVML_NOT_FOUND;
	*instance = (nvml_device)(uintptr_t)(INSTANCE_BASE + index_of(device) * INSTANCES + (int)index);
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstanceId(nvml_device device, unsigned *id)
{
	ENTER(device);
	*id = 7 + (unsigned)instance_of(device);
	return instance_of(device) < 0 ? NVML_NOT_SUPPORTED : NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetComputeInstanceId(nvml_device device, unsigned *id)
{
	ENTER(device);
	*id = 0;
	return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetAttributes_v2(nvml_device device, struct nvml_attributes *attributes)
{
	ENTER(device);
	*attributes = (struct nvml_attributes){
		.multiprocessor_count = 16, .compute_slice_count = 1, .memory_mib = 9856};
	return NVML_SUCCESS;
}

EXPORT int nvmlGpmQueryDeviceSupport(nvml_device device, struct nvml_gpm_support *support)
{
	ENTER(device);
	support->supported = script.gpm[index_of(device)] >= 0;
	return NVML_SUCCESS;
}

/* A counter of GPM: percent times microseconds of an instance or a device, which grow as the script says. */
struct sample {
	double us, area;
	bool is_taken;
};

static int gpm_samples;

EXPORT int nvmlGpmSampleAlloc(nvml_gpm_sample *sample)
{
	ENTER(NULL);
	*sample = calloc(1, sizeof(struct sample));
	gpm_samples++;
	return *sample ? NVML_SUCCESS : NVML_MEMORY;
}

EXPORT int nvmlGpmSampleFree(nvml_gpm_sample sample)
{
	free(sample);
	gpm_samples--;
	return NVML_SUCCESS;
}

/* How many samples of GPM the program has, for tests. */
EXPORT int nvml_fake_gpm_samples(void)
{
	return gpm_samples;
}

static int take_sample(nvml_device device, nvml_gpm_sample sample_)
{
	static double area[DEVICES];
	static uint64_t taken_us[DEVICES];
	struct sample *sample = (void *)sample_;
	int index = index_of(device);
	uint64_t us = script.gpm_us ? taken_us[index] + script.gpm_us : now_us();

	/* The library stays loaded from one test to the next: the time between them would drown the rest. */
	if (us - taken_us[index] > UINT64_C(3600000000))
		area[index] = 0;
	else
		area[index] += script.gpm[index] * (double)(us - taken_us[index]);
	taken_us[index] = us;
	*sample = (struct sample){(double)us, area[index], true};
	return NVML_SUCCESS;
}

EXPORT int nvmlGpmSampleGet(nvml_device device, nvml_gpm_sample sample)
{
	ENTER(device);
	return script.instances[index_of(device)] ? NVML_NOT_SUPPORTED : take_sample(device, sample);
}

EXPORT int nvmlGpmMigSampleGet(nvml_device device, unsigned gpu_instance, nvml_gpm_sample sample)
{
	ENTER(device);
	return gpu_instance >= 7 ? take_sample(device, sample) : NVML_INVALID_ARGUMENT;
}

/* Metric number n is n percent of what the script says, that of throughput so many MiB/s. */
EXPORT int nvmlGpmMetricsGet(struct nvml_gpm_request *request)
{
	const struct sample *earlier = (void *)request->earlier, *later = (void *)request->later;

	ENTER(NULL);
	if (request->version != NVML_GPM_VERSION)
		return NVML_ARGUMENT_VERSION_MISMATCH;
	if (!earlier->is_taken || !later->is_taken || earlier->us >= later->us)
		return NVML_INVALID_ARGUMENT;
	for (unsigned i = 0; i < request->metric_count; i++) {
		struct nvml_gpm_metric *metric = &request->metrics[i];
		double mean = (later->area - earlier->area) / (later->us - earlier->us);

		metric->result = (int)metric->metric == script.gpm_lacks ? NVML_NOT_SUPPORTED : NVML_SUCCESS;
		metric->value =
			metric->metric == NVML_GPM_GRAPHICS_UTILIZATION ? mean : mean * metric->metric / 100;
		if ((int)metric->metric == script.gpm_nan)
			metric->value = NAN;
	}
	return NVML_SUCCESS;
}

#endif
