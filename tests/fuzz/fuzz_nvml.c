/*
 * A library in the place of NVML whose every answer is made of the input: which functions it has, what they return and
 * what they write. The surveys that come out must be whole, whatever a driver says.
 *
 * An input begins with 8 bytes, a set of missing functions; then each answer takes what it needs. After its end
 * everything succeeds and is 0.
 */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "gpu/loader.h"
#include "gpu/nvml_library.h"
#include "gpu/surveyor.h"

enum { PASSES = 4, RECORD_BYTES = 64, STEP_SECS = 40 };

static const uint8_t *input, *input_end;
static uint64_t missing;
static int64_t elapsed_ns;

static void take(void *ret_bytes, size_t size)
{
	size_t left = (size_t)(input_end - input), taken = size < left ? size : left;

	memset(ret_bytes, 0, size);
	memcpy(ret_bytes, input, taken);
	input += taken;
}

static unsigned take_byte(void)
{
	uint8_t byte;

	take(&byte, 1);
	return byte;
}

/* Three of four calls succeed. */
static int answer(void)
{
	unsigned byte = take_byte();

	return byte < 192 ? NVML_SUCCESS : (int)(byte & 31);
}

static int answer_with(void *ret_bytes, size_t size)
{
	take(ret_bytes, size);
	return answer();
}

/* ---- functions of each form ------------------------------------------------------------------------------- */

static int nothing(void)
{
	return NVML_SUCCESS;
}

static int one_u32(nvml_device device, unsigned *value)
{
	(void)device;
	return answer_with(value, sizeof *value);
}

/* A small number, or any: devices, instances. */
static int small_u32(nvml_device device, unsigned *value)
{
	int result = one_u32(device, value);

	if (take_byte() & 15)
		*value &= 7;
	return result;
}

static int device_count(unsigned *count)
{
	return small_u32(NULL, count);
}

static int two_u32(nvml_device device, unsigned *first, unsigned *second)
{
	(void)device;
	take(second, sizeof *second);
	*first = take_byte() & 3;
	return answer();
}

static int two_i32(nvml_device device, int *first, int *second)
{
	(void)device;
	take(second, sizeof *second);
	return answer_with(first, sizeof *first);
}

static int four_u32(nvml_device device, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
	return one_u32(device, a) | one_u32(device, b) | one_u32(device, c) | one_u32(device, d);
}

static int one_u64(nvml_device device, unsigned long long *value)
{
	(void)device;
	return answer_with(value, sizeof *value);
}

static int kind_u32(nvml_device device, unsigned kind, unsigned *value)
{
	(void)kind;
	return one_u32(device, value);
}

static int kind_u64(nvml_device device, unsigned kind, unsigned period, unsigned long long *value)
{
	(void)kind;
	(void)period;
	return one_u64(device, value);
}

/* As long as there is room, and without an end if the input says so. */
static int text_of(nvml_device device, char *text, unsigned size)
{
	(void)device;
	return answer_with(text, size);
}

static int device_numbered(unsigned index, nvml_device *device)
{
	*device = (nvml_device)(uintptr_t)(0x1000 + (take_byte() & 1 ? take_byte() & 7 : index & 0xff));
	return answer();
}

static int instance_numbered(nvml_device whole, unsigned index, nvml_device *instance)
{
	(void)whole;
	return device_numbered(index + 16, instance);
}

#define FILLS(name, type) \
	static int name(nvml_device device, type *record) \
	{ \
		(void)device; \
		return answer_with(record, sizeof *record); \
	}
FILLS(fill_memory_v1, struct nvml_memory_v1)
FILLS(fill_memory_v2, struct nvml_memory_v2)
FILLS(fill_utilization, struct nvml_utilization)
FILLS(fill_attributes, struct nvml_attributes)
FILLS(fill_support, struct nvml_gpm_support)

static int fill_pci(nvml_device device, struct nvml_pci *pci)
{
	(void)device;
	return answer_with(pci, offsetof(struct nvml_pci, spare));
}

static int fill_fields(nvml_device device, int count, struct nvml_field_value *values)
{
	(void)device;
	return answer_with(values, (size_t)count * sizeof *values);
}

/* ---- lists ------------------------------------------------------------------------------------------------ */

static int64_t fuzzed_ns(void *context)
{
	(void)context;
	return 1000 * NSEC_PER_SEC + elapsed_ns;
}

/* Few processes, times of the last seconds and small numbers, so that samples belong to listed processes and may be true. */
static void fit_record(char *record, size_t size, size_t pid_offset, size_t time_offset)
{
	uint64_t at_us = (uint64_t)fuzzed_ns(NULL) / 1000 - (uint64_t)take_byte() * 10000;

	if (take_byte() & 15)
		memset(record + pid_offset + 1, 0, 3);
	record[pid_offset] &= 7;
	if (time_offset != SIZE_MAX && take_byte() & 15)
		memcpy(record + time_offset, &at_us, sizeof at_us);
	for (size_t at = 12; time_offset != SIZE_MAX && at + 4 <= size; at += 4)
		if (at != pid_offset && at != time_offset + 4 && take_byte() & 7)
			memset(record + at + 1, 0, 3);
}

/* The number that the library claims, and records in the room that it was given. */
static int fill_list(unsigned *count, void *records, size_t size, size_t pid_offset, size_t time_offset)
{
	unsigned room = *count, claimed = take_byte();

	if (!(claimed & 15))
		take(&claimed, sizeof claimed);
	for (unsigned i = 0; records && i < claimed && i < room; i++) {
		char *record = (char *)records + i * size;

		take(record, size);
		fit_record(record, size, pid_offset, time_offset);
	}
	*count = claimed;
	return answer();
}

/* Drivers have written records of each of these sizes. */
static int list_processes(nvml_device device, unsigned *count, void *records)
{
	static const uint8_t SIZES[] = {16, 24, 32, RECORD_BYTES};

	(void)device;
	return fill_list(count, records, SIZES[take_byte() & 3], 0, SIZE_MAX);
}

static int list_samples(nvml_device device, struct nvml_process_utilization_v1 *samples, unsigned *count,
			unsigned long long last_seen_us)
{
	(void)device;
	(void)last_seen_us;
	return fill_list(count, samples, sizeof *samples, 0,
			 offsetof(struct nvml_process_utilization_v1, at_us));
}

static int list_new_samples(nvml_device device, struct nvml_processes_utilization *request)
{
	(void)device;
	must_hold(request->version == NVML_RECORD_VERSION(struct nvml_processes_utilization, 1));
	return fill_list(&request->count, request->samples, sizeof *request->samples,
			 offsetof(struct nvml_process_utilization_v2, pid), 0);
}

/* ---- events and GPM --------------------------------------------------------------------------------------- */

static int event_set_free(nvml_event_set set)
{
	must_hold(set != NULL);
	return NVML_SUCCESS;
}

static int event_set(nvml_event_set *set)
{
	*set = (nvml_event_set)(uintptr_t)1;
	return answer();
}

static int register_events(nvml_device device, unsigned long long kinds, nvml_event_set set)
{
	(void)device;
	(void)kinds;
	must_hold(set != NULL);
	return answer();
}

static int next_event(nvml_event_set set, struct nvml_event *event, unsigned timeout_ms)
{
	must_hold(set != NULL && timeout_ms == 0);
	take(event, sizeof *event);
	if (take_byte() & 1)
		event->kind = NVML_EVENT_XID;
	event->device = (nvml_device)(uintptr_t)(0x1000 + (take_byte() & 7));
	return answer();
}

/* The samples are memory, so that a lost or reused one is seen. */
static int gpm_alloc(nvml_gpm_sample *sample)
{
	int result = answer();

	if (result == NVML_SUCCESS)
		*sample = malloc(1);
	return result;
}

static int gpm_free(nvml_gpm_sample sample)
{
	free(sample);
	return NVML_SUCCESS;
}

static int gpm_sample(nvml_device device, nvml_gpm_sample sample)
{
	(void)device;
	*(char *)sample = 1;
	return answer();
}

static int gpm_mig_sample(nvml_device device, unsigned instance, nvml_gpm_sample sample)
{
	(void)instance;
	return gpm_sample(device, sample);
}

static int gpm_metrics(struct nvml_gpm_request *request)
{
	must_hold(request->metric_count <= NVML_GPM_METRICS && request->earlier && request->later);
	for (unsigned i = 0; i < request->metric_count; i++) {
		take(&request->metrics[i].value, sizeof request->metrics[i].value);
		request->metrics[i].result = (uint32_t)answer();
	}
	return answer();
}

/* ---- the loader ------------------------------------------------------------------------------------------- */

#define AT(member, function) \
	{ \
		offsetof(struct nvml, member), (void (*)(void))(function) \
	}

static const struct {
	size_t offset;
	void (*function)(void);
} FUNCTIONS[] = {
#define NVML_U32(id, call, ...) AT(call, one_u32),
#define NVML_U64(id, call, ...) AT(call, one_u64),
#define NVML_PAIR(id, call, ...) AT(call, two_u32),
#define NVML_KIND(id, call, ...) AT(call, kind_u32),
#include "gpu/readings.def"
	AT(init, nothing),
	AT(shutdown, nothing),
	AT(device_count, device_count),
	AT(device_by_index, device_numbered),
	AT(name, text_of),
	AT(uuid, text_of),
	AT(vbios, text_of),
	AT(pci, fill_pci),
	AT(compute_capability, two_i32),
	AT(ecc_mode, two_u32),
	AT(core_count, one_u32),
	AT(minor_number, one_u32),
	AT(memory_v1, fill_memory_v1),
	AT(memory_v2, fill_memory_v2),
	AT(utilization, fill_utilization),
	AT(pcie_throughput, kind_u32),
	AT(ecc_errors, kind_u64),
	AT(remapped_rows, four_u32),
	AT(field_values, fill_fields),
	AT(processes[0], list_processes),
	AT(processes[1], list_processes),
	AT(processes[2], list_processes),
	AT(process_utilization, list_samples),
	AT(processes_utilization, list_new_samples),
	AT(mig_mode, two_u32),
	AT(mig_max_count, small_u32),
	AT(mig_by_index, instance_numbered),
	AT(gpu_instance, small_u32),
	AT(compute_instance, one_u32),
	AT(attributes, fill_attributes),
	AT(event_set, event_set),
	AT(event_set_free, event_set_free),
	AT(register_events, register_events),
	AT(next_event, next_event),
	AT(gpm_support, fill_support),
	AT(gpm_alloc, gpm_alloc),
	AT(gpm_free, gpm_free),
	AT(gpm_sample, gpm_sample),
	AT(gpm_mig_sample, gpm_mig_sample),
	AT(gpm_metrics, gpm_metrics),
};

/* In the place of gpu/loader.c. */
void *load_library(const char *const *names, const char **ret_message)
{
	static char library;

	(void)names;
	(void)ret_message;
	return &library;
}

void load_symbols(void *library, const struct symbol *symbols, size_t count, void *functions)
{
	(void)library;
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < ARRAY_SIZE(FUNCTIONS); n++)
			if (symbols[i].offset == FUNCTIONS[n].offset && !(missing >> (n % 64) & 1))
				memcpy((char *)functions + symbols[i].offset, &FUNCTIONS[n].function,
				       sizeof FUNCTIONS[n].function);
}

/* ---- what must hold --------------------------------------------------------------------------------------- */

static void must_be_text(const char *text, size_t size)
{
	must_hold(memchr(text, '\0', size) != NULL);
}

static void must_be_percent(struct gpu_number number)
{
	must_hold(number.error || (number.value >= 0 && number.value <= 100));
}

static void check_fuzzed_device(const struct gpu_survey *survey, int64_t index)
{
	const struct gpu_device *device = &survey->devices[index];

	must_be_text(device->uuid, sizeof device->uuid);
	must_be_text(device->name, sizeof device->name);
	must_be_text(device->host_id, sizeof device->host_id);
	must_hold(*device->uuid);
	must_hold(device->parent >= -1 && device->parent < survey->device_count && device->parent != index);
	must_hold(device->detail_count >= 0 && device->detail_count <= GPU_DETAILS_MAX);
	for (int i = 0; i < GPU_READINGS; i++)
		must_hold(device->readings[i].error >= 0 && isfinite(device->readings[i].value));
	must_be_percent(device->readings[GPU_UTILIZATION_PCT]);
	must_be_percent(device->readings[GPU_SM_ACTIVE_PCT]);
	must_hold(device->readings[GPU_BUSY_SECS].error ||
		  device->readings[GPU_BUSY_SECS].value <= device->readings[GPU_COVERED_SECS].value + 1e-6);
	must_hold(device->readings[GPU_SHARE].error ||
		  (device->readings[GPU_SHARE].value >= 0 && device->readings[GPU_SHARE].value <= 1));
}

static void check_fuzzed_process(const struct gpu_survey *survey, int64_t index)
{
	const struct gpu_process *process = &survey->processes[index];

	must_hold(process->device >= 0 && process->device < survey->device_count);
	must_hold(process->vram_bytes.error ||
		  (process->vram_bytes.value >= 0 && process->vram_bytes.value <= 1e15));
	must_be_percent(process->utilization_pct);
	must_be_percent(process->memory_utilization_pct);
	must_be_percent(process->encoder_utilization_pct);
	must_be_percent(process->decoder_utilization_pct);
}

static void check_fuzzed_survey(const struct gpu_survey *survey)
{
	static struct gpu_survey packed;
	size_t length;

	must_hold(survey->device_count >= 0 && survey->device_count <= GPU_DEVICES_MAX);
	must_hold(survey->process_count >= 0 && survey->process_count <= GPU_PROCESSES_MAX);
	for (int64_t i = 0; i < survey->device_count; i++)
		check_fuzzed_device(survey, i);
	for (int64_t i = 0; i < survey->process_count; i++)
		check_fuzzed_process(survey, i);
	length = gpu_survey_pack(survey, &packed);
	must_hold(gpu_survey_unpack(&packed, length) == 0);
	must_hold(packed.process_count == survey->process_count);
}

/* ---- the machine ------------------------------------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const struct clocks clocks = {fuzzed_ns, fuzzed_ns, NULL};
	const struct gpu_setup setup = {.interval_ns = NSEC_PER_SEC};
	struct gpu_request *request = calloc(1, sizeof *request);
	const struct gpu_survey *survey;
	struct surveyor *surveyor;
	struct root root;

	input = bytes;
	input_end = bytes + length;
	elapsed_ns = 0;
	take(&missing, sizeof missing);
	/* A folder without proc, sys or dev: nothing of this machine but the input counts. */
	setenv("TRACKER_NVML_LIBRARY", "fuzzed", 1);
	must_hold(request && root_open(&root, "/usr", &clocks) == 0 &&
		  surveyor_new(&root, &setup, &surveyor) == 0);
	for (int i = 0; i < PASSES; i++) {
		request->sampled_ns = take_byte();
		if (surveyor_pass(surveyor, request, &survey) == 0)
			check_fuzzed_survey(survey);
		elapsed_ns += (int64_t)(take_byte() % STEP_SECS) * NSEC_PER_SEC;
	}
	surveyor_free(surveyor);
	root_close(&root);
	free(request);
	return 0;
}
