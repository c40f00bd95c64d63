/*
 * Tests of the readings of AMD's, Intel's and other GPUs: amd_sysfs.c, intel_sysfs.c, drm_clients.c,
 * member_files.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lay_tree.h"
#include "unit.h"

#include "gpu/drm_clients.h"
#include "gpu/surveyor.h"

/* A machine on which no time passes between two passes. */
struct machine {
	char tree[128];
	char folder[64];
	int64_t now_ns;
	struct root root;
	struct surveyor *surveyor;
	struct gpu_request request;
	const struct gpu_survey *survey;
};

static int64_t machine_now(void *context)
{
	return ((struct machine *)context)->now_ns;
}

static void lay_step(const struct machine *machine, int step)
{
	char from[4096];

	snprintf(from, sizeof from, "%s/%s/t%d", getenv("TEST_ROOTS"), machine->tree, step);
	lay_over(from, machine->folder);
}

static void machine_open(struct machine *machine, const char *tree)
{
	const struct gpu_setup setup = {.interval_ns = 1000000000};
	const struct clocks clocks = {machine_now, machine_now, machine};

	memset(machine, 0, sizeof *machine);
	unsetenv("TRACKER_NVML_LIBRARY");
	snprintf(machine->tree, sizeof machine->tree, "%s", tree);
	snprintf(machine->folder, sizeof machine->folder, "/tmp/test_gpu_drm.XXXXXX");
	assert_non_null(mkdtemp(machine->folder));
	lay_step(machine, 0);
	machine->now_ns = INT64_C(1000000000000);
	assert_int_equal(root_open(&machine->root, machine->folder, &clocks), 0);
	assert_int_equal(surveyor_new(&machine->root, &setup, &machine->surveyor), 0);
}

static void machine_close(struct machine *machine)
{
	surveyor_free(machine->surveyor);
	root_close(&machine->root);
	remove_tree(machine->folder);
}

static void machine_pass(struct machine *machine)
{
	assert_int_equal(surveyor_pass(machine->surveyor, &machine->request, &machine->survey), 0);
}

static void have_members(struct machine *machine, int count)
{
	for (int i = 0; i < count; i++)
		machine->request.members[i] = 100 + i;
	machine->request.member_count = count;
}

/* Two passes a second apart, over t0 and t1. */
static void run_two_steps(struct machine *machine, const char *tree, int members)
{
	machine_open(machine, tree);
	have_members(machine, members);
	machine_pass(machine);
	lay_step(machine, 1);
	machine->now_ns += 1000000000;
	machine_pass(machine);
}

static double reading(const struct machine *machine, int device, enum gpu_reading reading)
{
	struct gpu_number number = machine->survey->devices[device].readings[reading];

	assert_int_equal(number.error, 0);
	return number.value;
}

static const struct gpu_process *process(const struct machine *machine, int device, int pid)
{
	for (int64_t i = 0; i < machine->survey->process_count; i++)
		if (machine->survey->processes[i].pid == pid &&
		    machine->survey->processes[i].device == device)
			return &machine->survey->processes[i];
	return NULL;
}

static void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * (1 + fabs(wanted)))
		fail_msg("%.9g, not %.9g", value, wanted);
}

/* ---- AMD ------------------------------------------------------------------------------------------- */

static void first_generation_of_amdgpu(void **state)
{
	struct machine machine;
	const struct gpu_device *device;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-vega20-5.19", 3);
	assert_int_equal(machine.survey->device_count, 1);
	device = &machine.survey->devices[0];
	assert_string_equal(device->vendor, "AMD");
	assert_string_equal(device->uuid, "GPU-5f2a1b3c4d5e6f70");
	assert_string_equal(device->name, "AMD GPU 1002:66a1");
	assert_string_equal(device->host_id, "0000:03:00.0");
	assert_int_equal(device->memory_kind, GPU_MEMORY_DEDICATED);
	assert_near(reading(&machine, 0, GPU_UTILIZATION_PCT), 57);
	assert_near(reading(&machine, 0, GPU_POWER_WATTS), 214);
	assert_near(reading(&machine, 0, GPU_POWER_LIMIT_WATTS), 300);
	assert_near(reading(&machine, 0, GPU_TEMPERATURE_CELSIUS), 61);
	assert_near(reading(&machine, 0, GPU_FREQUENCY_HZ), 1725e6);
	assert_near(reading(&machine, 0, GPU_MEMORY_FREQUENCY_HZ), 1000e6);
	assert_near(reading(&machine, 0, GPU_FAN_PCT), 20);
	assert_near(reading(&machine, 0, GPU_CORE_COUNT), 60);
	assert_near(reading(&machine, 0, GPU_ECC_CORRECTED_ERRORS), 4);
	/* Without an energy counter, power is summed up. */
	assert_int_equal(device->energy_source, GPU_ENERGY_FROM_POWER);
	assert_near(reading(&machine, 0, GPU_ENERGY_JOULES), 214);
	assert_near(reading(&machine, 0, GPU_BUSY_SECS), 0.57);
	machine_close(&machine);
}

static void a_client_counts_once_over_all_descriptors(void **state)
{
	struct machine machine;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-vega20-5.19", 3);
	assert_int_equal(machine.survey->process_count, 2);
	assert_near(process(&machine, 0, 100)->utilization_pct.value, 25);
	assert_near(process(&machine, 0, 100)->vram_bytes.value, 1048576.0 * 1024);
	assert_near(process(&machine, 0, 100)->busy_secs.value, 0.25);
	/* Client 17 belongs to 100; 101 has its own client 18. */
	assert_near(process(&machine, 0, 101)->utilization_pct.value, 50);
	assert_near(process(&machine, 0, 101)->vram_bytes.value, 524288.0 * 1024);
	assert_near(process(&machine, 0, 101)->decoder_utilization_pct.value, 10);
	assert_int_equal(machine.survey->devices[0].pids, GPU_PIDS_OURS);
	machine_close(&machine);
}

static void busy_time_that_falls_is_unknown(void **state)
{
	struct machine machine;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-vega20-5.19", 3);
	lay_step(&machine, 0);
	machine.now_ns += 1000000000;
	machine_pass(&machine);
	assert_true(process(&machine, 0, 100)->utilization_pct.error != 0);
	/* From there on it counts again. */
	lay_step(&machine, 1);
	machine.now_ns += 1000000000;
	machine_pass(&machine);
	assert_near(process(&machine, 0, 100)->utilization_pct.value, 25);
	machine_close(&machine);
}

static void use_before_the_first_survey_is_not_counted(void **state)
{
	struct machine machine;

	(void)state;
	machine_open(&machine, "hand-made-gpu-vega20-5.19");
	machine_pass(&machine);
	assert_int_equal(machine.survey->devices[0].pids, GPU_PIDS_NOT_ASKED);
	have_members(&machine, 3);
	machine.now_ns += 1000000000;
	machine_pass(&machine);
	assert_near(process(&machine, 0, 100)->busy_secs.value, 0);
	machine_close(&machine);
}

static void second_generation_of_amdgpu(void **state)
{
	struct machine machine;
	const struct gpu_survey *survey;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-navi31-6.8", 2);
	survey = machine.survey;
	assert_int_equal(survey->device_count, 2);
	assert_string_equal(survey->devices[0].name, "Radeon RX 7900 XTX");
	assert_near(reading(&machine, 0, GPU_POWER_WATTS), 331);
	assert_near(reading(&machine, 0, GPU_TEMPERATURE_CELSIUS), 58);
	assert_near(reading(&machine, 0, GPU_FREQUENCY_HZ), 2482e6);
	assert_near(reading(&machine, 0, GPU_FAN_PCT), 50);
	assert_near(reading(&machine, 0, GPU_CORE_COUNT), 96);
	assert_near(process(&machine, 0, 100)->utilization_pct.value, 90);
	assert_near(process(&machine, 0, 100)->vram_bytes.value, 2097152.0 * 1024);
	/* The integrated GPU shares the machine's memory. It sleeps and is not woken. */
	assert_int_equal(survey->devices[1].memory_kind, GPU_MEMORY_UNIFIED);
	assert_near(reading(&machine, 1, GPU_UTILIZATION_PCT), 0);
	assert_int_equal(survey->devices[1].readings[GPU_POWER_WATTS].error, EAGAIN);
	assert_near(process(&machine, 1, 100)->vram_bytes.value, 2097152 - 524288);
	machine_close(&machine);
}

static void a_sleeping_card_holds_nothing(void **state)
{
	struct machine machine;
	char path[256];
	FILE *file;

	(void)state;
	machine_open(&machine, "hand-made-gpu-navi31-6.8");
	snprintf(path, sizeof path,
		 "%s/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/power/runtime_status", machine.folder);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("suspended\n", file);
	fclose(file);
	machine_pass(&machine);
	assert_near(reading(&machine, 0, GPU_VRAM_USED_BYTES), 0);
	assert_near(reading(&machine, 0, GPU_UTILIZATION_PCT), 0);
	assert_int_equal(machine.survey->devices[0].readings[GPU_TEMPERATURE_CELSIUS].error, EAGAIN);
	machine_close(&machine);
}

/* A container has only the files of its own devices, but /sys shows all devices. */
static void a_device_without_its_file_is_hidden(void **state)
{
	struct machine machine;
	char path[256];

	(void)state;
	machine_open(&machine, "hand-made-gpu-navi31-6.8");
	snprintf(path, sizeof path, "%s/dev/dri/renderD129", machine.folder);
	assert_int_equal(unlink(path), 0);
	have_members(&machine, 2);
	machine_pass(&machine);
	assert_int_equal(machine.survey->device_count, 2);
	assert_int_equal(machine.survey->devices[0].visible, 1);
	assert_int_equal(machine.survey->devices[1].visible, 0);
	machine_close(&machine);
}

static void compute_processes_have_memory_and_no_false_idleness(void **state)
{
	struct machine machine;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-navi31-6.8", 2);
	/* No engine's time includes ROCm's queues: unknown is not zero. */
	assert_near(process(&machine, 0, 101)->vram_bytes.value, 4294967296.0);
	assert_int_equal(process(&machine, 0, 101)->utilization_pct.error, EOPNOTSUPP);
	assert_int_equal(process(&machine, 0, 101)->kinds, GPU_PROCESS_COMPUTE | GPU_PROCESS_GRAPHICS);
	/* A foreign process is listed, too. */
	assert_near(process(&machine, 0, 900)->vram_bytes.value, 1073741824.0);
	assert_int_equal(machine.survey->devices[0].tenant_count, 2);
	machine_close(&machine);
}

/* ---- Intel ----------------------------------------------------------------------------------------- */

static void i915_has_energy_but_no_utilisation(void **state)
{
	struct machine machine;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-i915-6.2", 1);
	assert_int_equal(machine.survey->device_count, 2);
	assert_int_equal(machine.survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
	assert_int_equal(machine.survey->devices[1].memory_kind, GPU_MEMORY_DEDICATED);
	assert_int_equal(machine.survey->devices[1].readings[GPU_UTILIZATION_PCT].error, EOPNOTSUPP);
	assert_near(reading(&machine, 0, GPU_FREQUENCY_HZ), 900e6);
	assert_near(reading(&machine, 1, GPU_FREQUENCY_HZ), 2050e6);
	assert_near(reading(&machine, 1, GPU_POWER_WATTS), 75);
	assert_near(reading(&machine, 1, GPU_POWER_LIMIT_WATTS), 190);
	assert_int_equal(machine.survey->devices[1].energy_source, GPU_ENERGY_COUNTER);
	assert_int_equal(machine.survey->devices[0].readings[GPU_POWER_WATTS].error, EOPNOTSUPP);
	assert_near(process(&machine, 0, 100)->utilization_pct.value, 10);
	assert_int_equal(process(&machine, 0, 100)->vram_bytes.error, EOPNOTSUPP);
	assert_near(process(&machine, 1, 100)->utilization_pct.value, 50);
	assert_near(process(&machine, 1, 100)->vram_bytes.value, 102400.0 * 1024);
	machine_close(&machine);
}

static void xe_counts_cycles_of_a_clock(void **state)
{
	struct machine machine;

	(void)state;
	run_two_steps(&machine, "hand-made-gpu-xe-6.12", 1);
	assert_near(reading(&machine, 0, GPU_VRAM_TOTAL_BYTES), 17079205888.0);
	assert_near(reading(&machine, 0, GPU_POWER_WATTS), 120);
	assert_near(reading(&machine, 0, GPU_POWER_LIMIT_WATTS), 190);
	assert_near(reading(&machine, 0, GPU_FREQUENCY_HZ), 2400e6);
	/* rcs: 4.8 of 19.2 million; ccs: 9.6 of 19.2 million on four engines: the busier one counts. */
	assert_near(process(&machine, 0, 100)->utilization_pct.value, 25);
	assert_near(process(&machine, 0, 100)->vram_bytes.value, 23992.0 * 1024);
	machine_close(&machine);
}

/* ---- shared by all drivers ------------------------------------------------------------------------- */

static void engines_are_told_apart_by_name(void **state)
{
	static const struct {
		const char *name;
		enum drm_engine_use use;
	} ENGINES[] = {
		{"gfx", DRM_ENGINE_COMPUTES},    {"compute", DRM_ENGINE_COMPUTES},
		{"render", DRM_ENGINE_COMPUTES}, {"rcs", DRM_ENGINE_COMPUTES},
		{"ccs", DRM_ENGINE_COMPUTES},    {"fragment", DRM_ENGINE_COMPUTES},
		{"gpu", DRM_ENGINE_COMPUTES},    {"csd", DRM_ENGINE_COMPUTES},
		{"copy", DRM_ENGINE_OTHER},      {"dma", DRM_ENGINE_OTHER},
		{"bcs", DRM_ENGINE_OTHER},       {"video", DRM_ENGINE_OTHER},
		{"enc", DRM_ENGINE_ENCODES},     {"enc_1", DRM_ENGINE_ENCODES},
		{"dec", DRM_ENGINE_DECODES},     {"jpeg", DRM_ENGINE_DECODES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ENGINES) / sizeof(ENGINES[0]); i++)
		assert_int_equal(drm_engine_use(ENGINES[i].name), ENGINES[i].use);
}

static void memory_is_resident_else_total_less_shared(void **state)
{
	struct proc_pid_fdinfo fdinfo = {
		.region_count = 3,
		.regions = {{"vram0", 100, 40, -1, -1, -1},
			    {"vram1", 100, 40, 30, -1, -1},
			    {"gtt", 999, 0, 999, -1, -1}},
	};

	(void)state;
	assert_near(drm_client_vram(&fdinfo).value, 60 + 30);
	fdinfo.region_count = 0;
	assert_int_equal(drm_client_vram(&fdinfo).error, EOPNOTSUPP);
}

static void a_machine_without_gpus_has_none(void **state)
{
	struct machine machine;

	(void)state;
	machine_open(&machine, "hand-made-vm-3.10");
	assert_int_equal(surveyor_pass(machine.surveyor, NULL, &machine.survey), -ENODEV);
	machine_close(&machine);
}

static void one_vendor_can_be_asked_for(void **state)
{
	struct gpu_setup setup = {.vendor = "intel"};
	const struct gpu_survey *survey;
	struct surveyor *surveyor;
	struct root root;
	char path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/hand-made-gpu-vega20-5.19/t0", getenv("TEST_ROOTS"));
	assert_int_equal(root_open(&root, path, NULL), 0);
	assert_int_equal(surveyor_new(&root, &setup, &surveyor), 0);
	assert_int_equal(surveyor_pass(surveyor, NULL, &survey), -ENODEV);
	surveyor_free(surveyor);
	snprintf(setup.vendor, sizeof setup.vendor, "amd");
	assert_int_equal(surveyor_new(&root, &setup, &surveyor), 0);
	assert_int_equal(surveyor_pass(surveyor, NULL, &survey), 0);
	assert_int_equal(survey->device_count, 1);
	surveyor_free(surveyor);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_generation_of_amdgpu),
		cmocka_unit_test(a_client_counts_once_over_all_descriptors),
		cmocka_unit_test(busy_time_that_falls_is_unknown),
		cmocka_unit_test(use_before_the_first_survey_is_not_counted),
		cmocka_unit_test(second_generation_of_amdgpu),
		cmocka_unit_test(a_sleeping_card_holds_nothing),
		cmocka_unit_test(a_device_without_its_file_is_hidden),
		cmocka_unit_test(compute_processes_have_memory_and_no_false_idleness),
		cmocka_unit_test(i915_has_energy_but_no_utilisation),
		cmocka_unit_test(xe_counts_cycles_of_a_clock),
		cmocka_unit_test(engines_are_told_apart_by_name),
		cmocka_unit_test(memory_is_resident_else_total_less_shared),
		cmocka_unit_test(a_machine_without_gpus_has_none),
		cmocka_unit_test(one_vendor_can_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
