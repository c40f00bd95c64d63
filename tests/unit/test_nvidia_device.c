/* src/gpu/nvidia_device.c and nvml_errno() with answers that the test gives itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/clock.h"
#include "gpu/nvidia_device.h"
#include "gpu/vendor.h"

static struct nvml nvml;
static struct nvidia_device nvidia;
static struct gpu_survey survey;
static struct gpu_device *device;

static double reading(enum gpu_reading which)
{
	assert_int_equal(device->readings[which].error, 0);
	return device->readings[which].value;
}

#define assert_reading(which, expected) assert_true(reading(which) == (expected))
#define assert_reason(which, expected) assert_int_equal(device->readings[which].error, expected)

/* ---- answers --------------------------------------------------------------------------------------- */

static int memory_result, old_memory_result, utilization_result, power_result;
static uint64_t total_bytes, used_bytes;
static unsigned power_mw, fan_calls, power_calls;

static int answer_memory_v2(nvml_device handle, struct nvml_memory_v2 *ret_memory)
{
	(void)handle;
	ret_memory->total = total_bytes;
	ret_memory->used = used_bytes;
	return memory_result;
}

static int answer_memory_v1(nvml_device handle, struct nvml_memory_v1 *ret_memory)
{
	(void)handle;
	ret_memory->total = total_bytes + 1;
	ret_memory->used = used_bytes + 1;
	return old_memory_result;
}

static int answer_utilization(nvml_device handle, struct nvml_utilization *ret_utilization)
{
	(void)handle;
	*ret_utilization = (struct nvml_utilization){30, 40};
	return utilization_result;
}

static int answer_power(nvml_device handle, unsigned *ret_value)
{
	(void)handle;
	power_calls++;
	*ret_value = power_mw;
	return power_result;
}

static int answer_fan(nvml_device handle, unsigned *ret_value)
{
	(void)handle;
	*ret_value = ++fan_calls;
	return NVML_SUCCESS;
}

static unsigned state_number;

static int answer_state(nvml_device handle, unsigned *ret_value)
{
	(void)handle;
	*ret_value = state_number;
	return NVML_SUCCESS;
}

static int energy_result;

static int answer_energy(nvml_device handle, unsigned long long *ret_value)
{
	(void)handle;
	*ret_value = 7500;
	return energy_result;
}

static unsigned ecc_calls;
static int ecc_results[2];

static int answer_ecc(nvml_device handle, unsigned kind, unsigned period, unsigned long long *ret_count)
{
	(void)handle;
	assert_int_equal(period, NVML_ECC_VOLATILE);
	*ret_count = kind == NVML_ECC_CORRECTED ? 100 + ++ecc_calls : 5;
	return ecc_results[kind];
}

static int answer_rows(nvml_device handle, unsigned *ret_corrected, unsigned *ret_uncorrected,
		       unsigned *ret_pending, unsigned *ret_failed)
{
	(void)handle;
	*ret_corrected = 1;
	*ret_uncorrected = 2;
	*ret_pending = 3;
	*ret_failed = 4;
	return NVML_SUCCESS;
}

static struct nvml_field_value links[2];
static int links_result;

static int answer_fields(nvml_device handle, int count, struct nvml_field_value *values)
{
	(void)handle;
	assert_int_equal(count, 2);
	assert_int_equal(values[0].field, NVML_FIELD_NVLINK_SENT_KIB);
	assert_int_equal(values[1].field, NVML_FIELD_NVLINK_RECEIVED_KIB);
	for (int i = 0; i < 2; i++) {
		values[i].type = links[i].type;
		values[i].result = links[i].result;
		values[i].value = links[i].value;
	}
	return links_result;
}

static unsigned pcie_calls;
static int pcie_results[2];

static int answer_pcie(nvml_device handle, unsigned kind, unsigned *ret_value)
{
	(void)handle;
	pcie_calls++;
	*ret_value = kind == NVML_PCIE_SENT ? 3 : 4;
	return pcie_results[kind];
}

static int begin(void **state)
{
	(void)state;
	nvml = (struct nvml){.memory_v2 = answer_memory_v2,
			     .utilization = answer_utilization,
			     .power = answer_power,
			     .fan = answer_fan};
	nvidia = (struct nvidia_device){0};
	memory_result = old_memory_result = utilization_result = power_result = energy_result = links_result =
		0;
	total_bytes = 1000;
	used_bytes = 300;
	power_mw = 2500;
	fan_calls = power_calls = ecc_calls = pcie_calls = 0;
	ecc_results[0] = ecc_results[1] = pcie_results[0] = pcie_results[1] = 0;
	memset(&survey, 0, sizeof survey);
	device = gpu_survey_add_device(&survey, "NVIDIA");
	nvidia_device_open(&nvml, &nvidia);
	return 0;
}

static int pass_at(int64_t now_ns)
{
	return nvidia_read_device(&nvml, &nvidia, device, now_ns, 0, true);
}

static int pass(void)
{
	return pass_at(1000);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static void memory_is_asked_by_the_newer_call_first(void **state)
{
	(void)state;
	nvml.memory_v1 = answer_memory_v1;
	assert_int_equal(pass(), 0);
	assert_reading(GPU_VRAM_TOTAL_BYTES, 1000);
	assert_reading(GPU_VRAM_USED_BYTES, 300);
	assert_int_equal(device->memory_kind, GPU_MEMORY_DEDICATED);
	memory_result = NVML_NOT_SUPPORTED;
	assert_int_equal(pass(), 0);
	assert_reading(GPU_VRAM_USED_BYTES, 301);
	nvml.memory_v2 = NULL;
	assert_int_equal(pass(), 0);
	assert_reading(GPU_VRAM_TOTAL_BYTES, 1001);
	/* The device has none of its own. The total that it once told stays. */
	old_memory_result = NVML_NOT_SUPPORTED;
	assert_int_equal(pass(), 0);
	assert_int_equal(device->memory_kind, GPU_MEMORY_UNIFIED);
	assert_reading(GPU_VRAM_TOTAL_BYTES, 1001);
	assert_reason(GPU_VRAM_USED_BYTES, EOPNOTSUPP);
	/* Another failure says nothing of the kind, and no older call is asked. */
	nvml.memory_v2 = answer_memory_v2;
	memory_result = NVML_TIMEOUT;
	old_memory_result = NVML_SUCCESS;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_VRAM_USED_BYTES, ETIMEDOUT);
	assert_int_equal(device->memory_kind, GPU_MEMORY_UNIFIED);
	memory_result = NVML_SUCCESS;
	used_bytes = UINT64_MAX;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_VRAM_USED_BYTES, EOPNOTSUPP);
	used_bytes = UINT32_MAX;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_VRAM_USED_BYTES, EOPNOTSUPP);
}

/* ---- a device that has gone ------------------------------------------------------------------------ */

static void a_lost_device_is_asked_less_and_less_often(void **state)
{
	static const int PAUSES[] = {1, 2, 4, 8, 16, 32, 60, 60};

	(void)state;
	assert_int_equal(pass(), 0);
	for (size_t i = 0; i < sizeof PAUSES / sizeof *PAUSES; i++) {
		memory_result = NVML_GPU_IS_LOST;
		device->tenant_count = 3;
		device->pids = GPU_PIDS_OURS;
		assert_int_equal(pass(), -ENODEV);
		assert_int_equal(device->tenant_count, -1);
		assert_int_equal(device->pids, GPU_PIDS_UNKNOWN);
		assert_reason(GPU_UTILIZATION_PCT, ENODEV);
		assert_reason(GPU_LAST_XID, ENODEV);
		memory_result = NVML_SUCCESS;
		for (int pause = 0; pause < PAUSES[i]; pause++)
			assert_int_equal(pass(), -ENODEV);
		if (i + 1 < sizeof PAUSES / sizeof *PAUSES)
			continue;
		assert_int_equal(pass(), 0);
		/* It is back, and the next loss begins with a short pause. */
		memory_result = NVML_RESET_REQUIRED;
		assert_int_equal(pass(), -ENODEV);
		memory_result = NVML_SUCCESS;
		assert_int_equal(pass(), -ENODEV);
		assert_int_equal(pass(), 0);
	}
}

static void a_device_that_is_lost_while_it_is_read_has_no_readings(void **state)
{
	(void)state;
	utilization_result = NVML_GPU_IS_LOST;
	assert_int_equal(pass(), -ENODEV);
	assert_reason(GPU_POWER_WATTS, ENODEV);
	begin(NULL);
	power_result = NVML_GPU_NOT_FOUND;
	assert_int_equal(pass(), -ENODEV);
	assert_reason(GPU_UTILIZATION_PCT, ENODEV);
	begin(NULL);
	utilization_result = power_result = NVML_TIMEOUT;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_UTILIZATION_PCT, ETIMEDOUT);
	assert_reason(GPU_MEMORY_UTILIZATION_PCT, ETIMEDOUT);
	nvml.utilization = NULL;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_UTILIZATION_PCT, EOPNOTSUPP);
}

/* ---- readings -------------------------------------------------------------------------------------- */

static void rare_readings_are_taken_each_fifth_time(void **state)
{
	(void)state;
	nvml.ecc_errors = answer_ecc;
	for (int i = 0; i < 11; i++) {
		assert_int_equal(pass(), 0);
		assert_int_equal(fan_calls, 1 + i / 5);
		assert_reading(GPU_FAN_PCT, 1 + i / 5);
		assert_reading(GPU_ECC_CORRECTED_ERRORS, 101 + i / 5);
		assert_int_equal(power_calls, i + 1);
	}
	assert_reading(GPU_POWER_WATTS, 2.5);
	assert_reading(GPU_UTILIZATION_PCT, 30);
	assert_reading(GPU_MEMORY_UTILIZATION_PCT, 40);
}

static void numbers_with_all_bits_are_unknown(void **state)
{
	(void)state;
	power_mw = UINT32_MAX;
	nvml.performance_state = answer_state;
	nvml.energy = answer_energy;
	state_number = 8;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_POWER_WATTS, EOPNOTSUPP);
	assert_reading(GPU_PERFORMANCE_STATE, 8);
	assert_reading(GPU_ENERGY_JOULES, 7.5);
	assert_int_equal(device->energy_source, GPU_ENERGY_COUNTER);
	state_number = NVML_PERFORMANCE_STATE_UNKNOWN;
	energy_result = NVML_NOT_SUPPORTED;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_PERFORMANCE_STATE, EOPNOTSUPP);
	assert_int_equal(device->energy_source, GPU_ENERGY_NONE);
}

static void errors_of_memory_have_their_own_reasons(void **state)
{
	(void)state;
	nvml.ecc_errors = answer_ecc;
	nvml.remapped_rows = answer_rows;
	ecc_results[NVML_ECC_CORRECTED] = NVML_NO_PERMISSION;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_ECC_CORRECTED_ERRORS, EACCES);
	assert_reading(GPU_ECC_UNCORRECTED_ERRORS, 5);
	assert_reading(GPU_REMAPPED_ROWS_CORRECTED, 1);
	assert_reading(GPU_REMAPPED_ROWS_UNCORRECTED, 2);
	assert_reading(GPU_REMAP_PENDING, 3);
	assert_reading(GPU_REMAP_FAILED, 4);
}

/* ---- links ----------------------------------------------------------------------------------------- */

static void links_have(uint64_t sent_kib, uint64_t received_kib)
{
	links[0] = (struct nvml_field_value){.type = NVML_U64, .value.u64 = sent_kib};
	links[1] = (struct nvml_field_value){.type = NVML_U64, .value.u64 = received_kib};
}

static void the_bytes_of_links_are_rates(void **state)
{
	(void)state;
	nvml.field_values = answer_fields;
	links_have(0, 100);
	assert_int_equal(pass_at(NSEC_PER_SEC), 0);
	assert_reason(GPU_NVLINK_SENT_BYTES_PER_SEC, EAGAIN);
	links_have(4, 100);
	assert_int_equal(pass_at(3 * NSEC_PER_SEC), 0);
	assert_reading(GPU_NVLINK_SENT_BYTES_PER_SEC, 2048);
	assert_reading(GPU_NVLINK_RECEIVED_BYTES_PER_SEC, 0);
	/* No time has passed, and then a counter began again. */
	links_have(6, 200);
	assert_int_equal(pass_at(3 * NSEC_PER_SEC), 0);
	assert_reason(GPU_NVLINK_SENT_BYTES_PER_SEC, EAGAIN);
	links_have(5, 200);
	assert_int_equal(pass_at(4 * NSEC_PER_SEC), 0);
	assert_reason(GPU_NVLINK_SENT_BYTES_PER_SEC, EAGAIN);
	assert_reading(GPU_NVLINK_RECEIVED_BYTES_PER_SEC, 0);
	/* A call that fails leaves the last readings. */
	links_result = NVML_TIMEOUT;
	assert_int_equal(pass_at(5 * NSEC_PER_SEC), 0);
	links_result = NVML_SUCCESS;
	links_have(7, 203);
	assert_int_equal(pass_at(6 * NSEC_PER_SEC), 0);
	assert_reading(GPU_NVLINK_SENT_BYTES_PER_SEC, 1024);
}

static void counters_of_links_that_cannot_be_are_unsupported(void **state)
{
	static const struct nvml_field_value BAD[] = {
		{.type = NVML_U64, .result = NVML_NOT_SUPPORTED},
		{.type = NVML_DOUBLE, .value.u64 = 1},
		{.type = NVML_U64, .value.u64 = UINT32_MAX},
		{.type = NVML_U32, .value.u32 = UINT32_MAX},
		{.type = NVML_U64, .value.u64 = INT64_MAX / 1024 + 1},
	};

	(void)state;
	nvml.field_values = answer_fields;
	links_have(1, 1);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		links[0] = BAD[i];
		assert_int_equal(pass_at(NSEC_PER_SEC * (int64_t)(i + 1)), 0);
		assert_reason(GPU_NVLINK_SENT_BYTES_PER_SEC, EOPNOTSUPP);
		/* After it, there is nothing to compare with. */
		links_have(1, 1);
	}
	assert_int_equal(pass_at(20 * NSEC_PER_SEC), 0);
	assert_reason(GPU_NVLINK_SENT_BYTES_PER_SEC, EAGAIN);
	links[0] = (struct nvml_field_value){.type = NVML_U64, .value.u64 = INT64_MAX / 1024};
	assert_int_equal(pass_at(21 * NSEC_PER_SEC), 0);
	assert_true(reading(GPU_NVLINK_SENT_BYTES_PER_SEC) > 9e18);
	/* The high bits of a 32-bit field are garbage. */
	begin(NULL);
	nvml.field_values = answer_fields;
	links_have(1, 1);
	(void)pass_at(NSEC_PER_SEC);
	links[0] = (struct nvml_field_value){.type = NVML_U32, .value.u64 = (UINT64_C(7) << 32) + 3};
	(void)pass_at(2 * NSEC_PER_SEC);
	assert_reading(GPU_NVLINK_SENT_BYTES_PER_SEC, 2048);
}

/* ---- PCIe ------------------------------------------------------------------------------------------ */

static void pcie_is_measured_when_it_is_this_devices_turn(void **state)
{
	(void)state;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_PCIE_SENT_BYTES_PER_SEC, EOPNOTSUPP);
	begin(NULL);
	nvml.pcie_throughput = answer_pcie;
	assert_int_equal(nvidia_read_device(&nvml, &nvidia, device, 1000, 0, false), 0);
	assert_int_equal(pcie_calls, 0);
	assert_reason(GPU_PCIE_SENT_BYTES_PER_SEC, EAGAIN);
	assert_int_equal(pass(), 0);
	assert_int_equal(pcie_calls, 2);
	assert_reading(GPU_PCIE_SENT_BYTES_PER_SEC, 3000);
	assert_reading(GPU_PCIE_RECEIVED_BYTES_PER_SEC, 4000);
	/* In between, the last readings stay. */
	assert_int_equal(nvidia_read_device(&nvml, &nvidia, device, 1000, 0, false), 0);
	assert_int_equal(pcie_calls, 2);
	assert_reading(GPU_PCIE_SENT_BYTES_PER_SEC, 3000);
	pcie_results[NVML_PCIE_RECEIVED] = NVML_TIMEOUT;
	assert_int_equal(pass(), 0);
	assert_reason(GPU_PCIE_RECEIVED_BYTES_PER_SEC, ETIMEDOUT);
	/* A device that cannot report one direction is not asked again. */
	pcie_results[NVML_PCIE_SENT] = NVML_NOT_SUPPORTED;
	assert_int_equal(pass(), 0);
	assert_int_equal(pcie_calls, 5);
	assert_reason(GPU_PCIE_RECEIVED_BYTES_PER_SEC, EOPNOTSUPP);
	assert_int_equal(pass(), 0);
	assert_int_equal(pcie_calls, 5);
}

/* ---- identity -------------------------------------------------------------------------------------- */

static const char *uuid_text, *vbios_text;
static int text_result, pci_result, versions_result, ecc_mode_result;
static unsigned ecc_mode;

static int answer_uuid(nvml_device handle, char *ret_text, unsigned size)
{
	(void)handle;
	snprintf(ret_text, size, "%s", uuid_text);
	return text_result;
}

static int answer_vbios(nvml_device handle, char *ret_text, unsigned size)
{
	(void)handle;
	memset(ret_text, 'v', size);
	snprintf(ret_text, size, "%s", vbios_text);
	return NVML_SUCCESS;
}

/* A library that leaves out the end of the text. */
static int answer_name(nvml_device handle, char *ret_text, unsigned size)
{
	(void)handle;
	memset(ret_text, 'n', size);
	return NVML_SUCCESS;
}

static int answer_pci(nvml_device handle, struct nvml_pci *ret_pci)
{
	(void)handle;
	ret_pci->domain = 1;
	ret_pci->bus = 0x2a;
	ret_pci->device = 3;
	ret_pci->device_and_vendor = 0x233010de;
	return pci_result;
}

static int answer_driver_version(char *ret_text, unsigned size)
{
	snprintf(ret_text, size, "570.1");
	return versions_result;
}

static int answer_cuda_version(int *ret_version)
{
	*ret_version = 13010;
	return versions_result;
}

static int answer_capability(nvml_device handle, int *ret_major, int *ret_minor)
{
	(void)handle;
	*ret_major = 9;
	*ret_minor = 0;
	return versions_result;
}

static int answer_ecc_mode(nvml_device handle, unsigned *ret_first, unsigned *ret_second)
{
	(void)handle;
	*ret_first = ecc_mode;
	*ret_second = 1 - ecc_mode;
	return ecc_mode_result;
}

static int answer_number(nvml_device handle, unsigned *ret_value)
{
	(void)handle;
	*ret_value = 11;
	return pci_result;
}

static void identify(void)
{
	memset(&survey, 0, sizeof survey);
	device = gpu_survey_add_device(&survey, "NVIDIA");
	device->index = 6;
	nvidia_read_identity(&nvml, &nvidia, device);
}

static void try_details(const char *expected)
{
	char found[1000] = "";

	identify();
	for (int64_t i = 0; i < device->detail_count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s=%s", i ? " " : "",
			 device->details[i].name, device->details[i].value);
	assert_string_equal(found, expected);
}

static void begin_identity(void)
{
	nvml = (struct nvml){.uuid = answer_uuid,
			     .vbios = answer_vbios,
			     .name = answer_name,
			     .pci = answer_pci,
			     .driver_version = answer_driver_version,
			     .cuda_version = answer_cuda_version,
			     .compute_capability = answer_capability,
			     .ecc_mode = answer_ecc_mode,
			     .core_count = answer_number,
			     .minor_number = answer_number};
	nvidia = (struct nvidia_device){0};
	uuid_text = "GPU-1";
	vbios_text = "96.00";
	text_result = pci_result = versions_result = ecc_mode_result = 0;
	ecc_mode = 1;
}

static void details_of_a_device_are_those_that_it_tells(void **state)
{
	(void)state;
	begin_identity();
	try_details("pci_id=10de:2330 driver_version=570.1 cuda_version=13.1 vbios_version=96.00 "
		    "compute_capability=9.0 ecc_mode=on");
	assert_string_equal(device->host_id, "0001:2a:03.0");
	assert_string_equal(device->uuid, "GPU-1");
	assert_int_equal(strlen(device->name), sizeof device->name - 1);
	assert_int_equal(device->file_number, 11);
	assert_reading(GPU_CORE_COUNT, 11);
	ecc_mode = 0;
	vbios_text = "";
	versions_result = NVML_NOT_SUPPORTED;
	try_details("pci_id=10de:2330 ecc_mode=off");
	ecc_mode_result = NVML_NOT_SUPPORTED;
	try_details("pci_id=10de:2330");
	pci_result = NVML_NOT_SUPPORTED;
	try_details("");
	assert_string_equal(device->host_id, "6");
	assert_int_equal(device->file_number, -1);
	assert_reason(GPU_CORE_COUNT, EOPNOTSUPP);
	nvml = (struct nvml){0};
	try_details("");
	assert_string_equal(device->name, "");
	assert_string_equal(device->uuid, "nvidia-6");
}

static void a_device_without_a_uuid_gets_one_from_its_place(void **state)
{
	(void)state;
	begin_identity();
	uuid_text = "";
	identify();
	assert_string_equal(device->uuid, "nvidia-0001:2a:03.0");
	uuid_text = "GPU-1";
	text_result = NVML_TIMEOUT;
	identify();
	assert_string_equal(device->uuid, "nvidia-0001:2a:03.0");
	nvidia.is_instance = true;
	nvidia.gpu_instance = 5;
	identify();
	assert_string_equal(device->uuid, "nvidia-0001:2a:03.0/5/0");
	nvml.compute_instance = answer_number;
	try_details("");
	assert_string_equal(device->uuid, "nvidia-0001:2a:03.0/5/11");
	assert_reason(GPU_CORE_COUNT, EOPNOTSUPP);
}

/* ---- the library ----------------------------------------------------------------------------------- */

static int answer_support(nvml_device handle, struct nvml_gpm_support *ret_support)
{
	(void)handle;
	ret_support->supported = 1;
	return NVML_SUCCESS;
}

static int sample_count;

static int answer_alloc(nvml_gpm_sample *ret_sample)
{
	*ret_sample = (nvml_gpm_sample)&sample_count;
	return sample_count++ < GPM_SAMPLES ? NVML_SUCCESS : NVML_MEMORY;
}

static int answer_free(nvml_gpm_sample sample)
{
	assert_ptr_equal(sample, &sample_count);
	sample_count--;
	return NVML_SUCCESS;
}

static int answer_sample(nvml_device handle, nvml_gpm_sample sample)
{
	(void)handle, (void)sample;
	return NVML_SUCCESS;
}

static int answer_mig_sample(nvml_device handle, unsigned gpu_instance, nvml_gpm_sample sample)
{
	(void)handle, (void)gpu_instance, (void)sample;
	return NVML_SUCCESS;
}

static int answer_metrics(struct nvml_gpm_request *request)
{
	(void)request;
	return NVML_SUCCESS;
}

static void gpm_needs_each_of_its_functions(void **state)
{
	const struct nvml all = {.gpm_support = answer_support,
				 .gpm_alloc = answer_alloc,
				 .gpm_free = answer_free,
				 .gpm_sample = answer_sample,
				 .gpm_mig_sample = answer_mig_sample,
				 .gpm_metrics = answer_metrics};

	(void)state;
	for (int missing = 0; missing < 7; missing++) {
		struct nvidia_gpm whole, instance;

		nvml = all;
		if (missing == 1)
			nvml.gpm_support = NULL;
		if (missing == 2)
			nvml.gpm_alloc = NULL;
		if (missing == 3)
			nvml.gpm_free = NULL;
		if (missing == 4)
			nvml.gpm_metrics = NULL;
		if (missing == 5)
			nvml.gpm_sample = NULL;
		if (missing == 6)
			nvml.gpm_mig_sample = NULL;
		sample_count = 0;
		nvidia_gpm_open(&nvml, NULL, &whole);
		assert_int_equal(whole.error, missing == 0 || missing == 6 ? 0 : EOPNOTSUPP);
		assert_int_equal(sample_count, whole.error ? 0 : GPM_SAMPLES);
		assert_int_equal(whole.latest, -1);
		nvidia_gpm_close(&nvml, &whole);
		assert_int_equal(sample_count, 0);
		nvidia_gpm_open_instance(&nvml, NULL, 3, &instance);
		assert_int_equal(instance.error, missing == 0 || missing == 5 ? 0 : EOPNOTSUPP);
		assert_true(instance.is_instance && instance.gpu_instance == 3);
		nvidia_gpm_close(&nvml, &instance);
		assert_int_equal(sample_count, 0);
	}
	/* The samples that could be had are given back. */
	nvml = all;
	sample_count = 1;
	nvidia_gpm_open(&nvml, NULL, &nvidia.gpm);
	assert_int_equal(nvidia.gpm.error, ENOMEM);
}

static void an_empty_name_of_the_library_is_none(void **state)
{
	const char *message = NULL;

	(void)state;
	setenv("TRACKER_NVML_LIBRARY", "", 1);
	/* The machine may have one, but never this program. */
	assert_int_not_equal(nvml_open(&nvml, &message), -ELIBBAD);
	setenv("TRACKER_NVML_LIBRARY", "/nonexistent/lib.so", 1);
	assert_int_equal(nvml_open(&nvml, &message), -ENOENT);
	assert_non_null(message);
	unsetenv("TRACKER_NVML_LIBRARY");
}

static void answers_of_the_library_are_errors_of_the_system(void **state)
{
	static const struct {
		int result, error;
	} CASES[] = {{0, 0},           {1, ENOTCONN},    {2, EINVAL},  {3, EOPNOTSUPP}, {4, EACCES},
		     {5, EIO},         {6, ENOENT},      {7, ENOBUFS}, {8, EIO},        {9, ENXIO},
		     {10, ETIMEDOUT},  {13, EOPNOTSUPP}, {15, ENODEV}, {16, ENODEV},    {17, EIO},
		     {18, EPROTO},     {19, EBUSY},      {20, ENOMEM}, {21, EAGAIN},    {22, EOPNOTSUPP},
		     {25, EOPNOTSUPP}, {26, EOPNOTSUPP}, {27, EAGAIN}, {28, ENODEV},    {999, EIO}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		assert_int_equal(nvml_errno(CASES[i].result), CASES[i].error);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(memory_is_asked_by_the_newer_call_first, begin),
		cmocka_unit_test_setup(a_lost_device_is_asked_less_and_less_often, begin),
		cmocka_unit_test_setup(a_device_that_is_lost_while_it_is_read_has_no_readings, begin),
		cmocka_unit_test_setup(rare_readings_are_taken_each_fifth_time, begin),
		cmocka_unit_test_setup(numbers_with_all_bits_are_unknown, begin),
		cmocka_unit_test_setup(errors_of_memory_have_their_own_reasons, begin),
		cmocka_unit_test_setup(the_bytes_of_links_are_rates, begin),
		cmocka_unit_test_setup(counters_of_links_that_cannot_be_are_unsupported, begin),
		cmocka_unit_test_setup(pcie_is_measured_when_it_is_this_devices_turn, begin),
		cmocka_unit_test(details_of_a_device_are_those_that_it_tells),
		cmocka_unit_test(a_device_without_a_uuid_gets_one_from_its_place),
		cmocka_unit_test_setup(gpm_needs_each_of_its_functions, begin),
		cmocka_unit_test(an_empty_name_of_the_library_is_none),
		cmocka_unit_test(answers_of_the_library_are_errors_of_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
