/*
 * Tests of the readings of AMD's, Intel's and other GPUs: amd_sysfs.c, intel_sysfs.c, drm_clients.c,
 * member_files.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lay_tree.h"
#include "metrics_record.h"
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

#define CARD "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/"
#define NODES "sys/class/kfd/kfd/topology/nodes/"

static void put_bytes(const struct machine *machine, const char *name, const void *bytes, size_t length)
{
	char path[4096];
	FILE *file;

	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(path, sizeof path, "%s/%.*s", machine->folder, (int)(end - name), name);
		(void)mkdir(path, 0755);
	}
	snprintf(path, sizeof path, "%s/%s", machine->folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void put_text(const struct machine *machine, const char *name, const char *text)
{
	put_bytes(machine, name, text, strlen(text));
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

/* An MI300 in three partitions: two nodes have a render node without a driver, and one of them has another function. */
static void a_card_has_the_memory_of_all_its_partitions(void **state)
{
	static const char *const NODE[] = {
		"simd_count 240\nsimd_per_cu 4\ndrm_render_minor 129\ndomain 0\nlocation_id 769\n",
		"simd_count 240\nsimd_per_cu 4\ndrm_render_minor 130\ndomain 0\nlocation_id 536871680\n",
		/* Another card's. */
		"simd_count 240\nsimd_per_cu 4\ndrm_render_minor 131\ndomain 0\nlocation_id 1024\n",
	};
	struct machine machine;
	char name[256], text[64];

	(void)state;
	machine_open(&machine, "hand-made-gpu-vega20-5.19");
	put_text(&machine, CARD "current_compute_partition", "CPX\n");
	put_text(&machine, CARD "current_memory_partition", "NPS4\n");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, NODES "%d/properties", 2 + i);
		put_text(&machine, name, NODE[i]);
		snprintf(name, sizeof name, NODES "%d/gpu_id", 2 + i);
		snprintf(text, sizeof text, "%d\n", 600 + i);
		put_text(&machine, name, text);
		snprintf(name, sizeof name, "sys/class/kfd/kfd/proc/900/vram_%d", 600 + i);
		put_text(&machine, name, "1000\n");
	}
	put_text(&machine, "sys/class/kfd/kfd/proc/900/vram_54321", "500\n");
	machine_pass(&machine);
	assert_int_equal(machine.survey->device_count, 1);
	assert_near(reading(&machine, 0, GPU_CORE_COUNT), 3 * 60);
	assert_near(process(&machine, 0, 900)->vram_bytes.value, 2500);
	assert_string_equal(machine.survey->devices[0].details[3].value, "CPX");
	assert_string_equal(machine.survey->devices[0].details[4].value, "NPS4");
	assert_string_equal(machine.survey->devices[0].details[5].name, "partitions");
	assert_string_equal(machine.survey->devices[0].details[5].value, "3");
	machine_close(&machine);
}

/* The record of an MI300, revision 6. Without a value, all bits are set. */
static void put_metrics_of_mi300(const struct machine *machine, uint32_t cycles, uint32_t power,
				 uint32_t heat, uint64_t energy)
{
	uint8_t record[384];

	memset(record, 0xff, sizeof record);
	put_u16(record, 0, sizeof record);
	record[2] = 1;
	record[3] = 6;
	put_u16(record, 12, 77);
	put_u64(record, 88, energy);
	put_u32(record, 104, cycles);
	put_u32(record, 108, 0);
	put_u32(record, 112, power);
	put_u32(record, 116, 9);
	put_u32(record, 120, 9);
	put_u32(record, 124, heat);
	put_u16(record, 136, 16);
	put_u16(record, 138, 320);
	put_u16(record, 336, 1900);
	put_u16(record, 338, 2100);
	put_bytes(machine, CARD "gpu_metrics", record, sizeof record);
}

static void firmware_of_an_mi300_tells_energy_link_and_reasons(void **state)
{
	struct machine machine;

	(void)state;
	machine_open(&machine, "hand-made-gpu-vega20-5.19");
	put_metrics_of_mi300(&machine, 100, 5, 7, 65536 * 1000);
	machine_pass(&machine);
	assert_int_equal(machine.survey->devices[0].energy_source, GPU_ENERGY_COUNTER);
	assert_near(reading(&machine, 0, GPU_ENERGY_JOULES), 1000);
	assert_near(reading(&machine, 0, GPU_PCIE_LANES), 16);
	assert_near(reading(&machine, 0, GPU_PCIE_GENERATION), 5);
	assert_int_equal(machine.survey->devices[0].readings[GPU_THROTTLE_REASONS].error, EAGAIN);
	put_metrics_of_mi300(&machine, 200, 6, 7, 65536 * 1500);
	machine_pass(&machine);
	assert_near(reading(&machine, 0, GPU_ENERGY_JOULES), 1500);
	assert_int_equal((int)reading(&machine, 0, GPU_THROTTLE_REASONS), GPU_THROTTLE_POWER_CAP);
	put_metrics_of_mi300(&machine, 300, 6, 8, 65536 * 1500);
	machine_pass(&machine);
	assert_int_equal((int)reading(&machine, 0, GPU_THROTTLE_REASONS), GPU_THROTTLE_THERMAL_SOFTWARE);
	put_metrics_of_mi300(&machine, 400, 6, 8, 65536 * 1500);
	machine_pass(&machine);
	assert_int_equal((int)reading(&machine, 0, GPU_THROTTLE_REASONS), 0);
	/* The files that tell the same come first, and those that are missing leave it to the record. */
	assert_near(reading(&machine, 0, GPU_UTILIZATION_PCT), 37);
	put_text(&machine, CARD "gpu_busy_percent", "");
	machine_pass(&machine);
	assert_near(reading(&machine, 0, GPU_UTILIZATION_PCT), 77);
	machine_close(&machine);
}

/* Old chips and kernels: degrees for thousandths, clocks that are marked, nodes that say nothing of their cores. */
static void older_forms_of_amdgpu(void **state)
{
	static const char *const NODE[] = {
		"simd_count 0\nsimd_per_cu 4\ndrm_render_minor 128\ndomain 0\nlocation_id 768\n",
		"simd_count 240\nsimd_per_cu 0\ndrm_render_minor 128\ndomain 0\nlocation_id 768\n",
	};
	struct machine machine;
	char name[256];

	(void)state;
	machine_open(&machine, "hand-made-gpu-vega20-5.19");
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof name, NODES "%d/properties", 20 + i);
		put_text(&machine, name, NODE[i]);
	}
	put_text(&machine, CARD "ras/umc_err_count", "ue: 2\nce: 5\n");
	machine_pass(&machine);
	assert_near(reading(&machine, 0, GPU_CORE_COUNT), 60);
	assert_near(reading(&machine, 0, GPU_ECC_CORRECTED_ERRORS), 5);
	assert_near(reading(&machine, 0, GPU_ECC_UNCORRECTED_ERRORS), 2);
	/* A record that was missing at first is not looked for again. */
	put_text(&machine, CARD "gpu_metrics", "\x06\x01\x09\x09--");
	put_text(&machine, CARD "ras/umc_err_count", "ce: 0\n");
	put_text(&machine, CARD "mem_busy_percent", "17\n");
	machine_pass(&machine);
	assert_near(reading(&machine, 0, GPU_ECC_CORRECTED_ERRORS), 0);
	assert_near(reading(&machine, 0, GPU_MEMORY_UTILIZATION_PCT), 17);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(machine.survey->devices[0].readings[GPU_THROTTLE_REASONS].error, EOPNOTSUPP);
		machine_pass(&machine);
	}
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

static void files_of_intels_drivers_are_reasons(void **state)
{
	static const struct {
		const char *tree, *status, *power, *heat, *newer;
	} CASES[] = {
		{"hand-made-gpu-i915-6.2", CARD "drm/card1/gt/gt0/throttle_reason_status",
		 CARD "drm/card1/gt/gt0/throttle_reason_pl2", CARD "drm/card1/gt/gt0/throttle_reason_thermal",
		 CARD "drm/card1/gt/gt0/throttle_reason_iccmax"},
		{"hand-made-gpu-xe-6.12", CARD "tile0/gt0/freq0/throttle/status",
		 CARD "tile0/gt0/freq0/throttle/reason_pl2", CARD "tile0/gt0/freq0/throttle/reason_thermal",
		 CARD "tile0/gt0/freq0/throttle/reason_iccmax"},
	};
	struct machine machine;

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		int card;

		machine_open(&machine, CASES[i].tree);
		machine_pass(&machine);
		card = (int)machine.survey->device_count - 1;
		while (card > 0 && strcmp(machine.survey->devices[card].host_id, "0000:03:00.0") != 0)
			card--;
		assert_int_equal(machine.survey->devices[card].readings[GPU_THROTTLE_REASONS].error,
				 EOPNOTSUPP);
		put_text(&machine, CASES[i].status, "0\n");
		put_text(&machine, CASES[i].power, "1\n");
		put_text(&machine, CASES[i].heat, "0\n");
		machine_pass(&machine);
		assert_int_equal((int)reading(&machine, card, GPU_THROTTLE_REASONS), 0);
		put_text(&machine, CASES[i].status, "1\n");
		machine_pass(&machine);
		assert_int_equal((int)reading(&machine, card, GPU_THROTTLE_REASONS), GPU_THROTTLE_POWER_CAP);
		put_text(&machine, CASES[i].heat, "1\n");
		put_text(&machine, CASES[i].newer, "1\n");
		machine_pass(&machine);
		assert_int_equal((int)reading(&machine, card, GPU_THROTTLE_REASONS),
				 GPU_THROTTLE_POWER_CAP | GPU_THROTTLE_THERMAL_SOFTWARE |
					 GPU_THROTTLE_HARDWARE);
		machine_close(&machine);
	}
}

/* Every file that i915 and xe have for a reason, one at a time. */
static void each_file_of_intels_drivers_is_a_reason(void **state)
{
	static const struct {
		const char *name;
		int reason;
	} FILES[] = {
		{"pl1", GPU_THROTTLE_POWER_CAP},
		{"pl2", GPU_THROTTLE_POWER_CAP},
		{"psys_pl1", GPU_THROTTLE_POWER_CAP},
		{"psys_pl2", GPU_THROTTLE_POWER_CAP},
		{"pl4", GPU_THROTTLE_HARDWARE},
		{"vr_tdc", GPU_THROTTLE_HARDWARE},
		{"fastvmode", GPU_THROTTLE_HARDWARE},
		{"psys_crit", GPU_THROTTLE_HARDWARE},
		{"soc_thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
		{"mem_thermal", GPU_THROTTLE_THERMAL_SOFTWARE},
		{"ratl", GPU_THROTTLE_THERMAL_SOFTWARE},
		{"prochot", GPU_THROTTLE_THERMAL_HARDWARE},
		{"vr_thermalert", GPU_THROTTLE_THERMAL_HARDWARE},
		{"vr_thermal", GPU_THROTTLE_THERMAL_HARDWARE},
		{"p0_freq", GPU_THROTTLE_CLOCK_SETTING},
	};
	struct machine machine;
	char name[256];

	(void)state;
	machine_open(&machine, "hand-made-gpu-xe-6.12");
	put_text(&machine, CARD "tile0/gt0/freq0/throttle/status", "1\n");
	machine_pass(&machine);
	/* A reason that has no file. */
	assert_int_equal((int)reading(&machine, 0, GPU_THROTTLE_REASONS), GPU_THROTTLE_HARDWARE);
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
		snprintf(name, sizeof name, CARD "tile0/gt0/freq0/throttle/reason_%s", FILES[i].name);
		put_text(&machine, name, "1\n");
		machine_pass(&machine);
		assert_int_equal((int)reading(&machine, 0, GPU_THROTTLE_REASONS), FILES[i].reason);
		put_text(&machine, name, "0\n");
	}
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
		{"uvd", DRM_ENGINE_DECODES},     {"vce", DRM_ENGINE_ENCODES},
		{"sdma", DRM_ENGINE_OTHER},      {"tfu", DRM_ENGINE_OTHER},
		{"other", DRM_ENGINE_OTHER},     {"vcs", DRM_ENGINE_OTHER},
		{"vecs", DRM_ENGINE_OTHER},      {"vpe", DRM_ENGINE_OTHER},
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
	/* Nothing is shared, or that is not told; a region that tells nothing; and Intel's name. */
	fdinfo.regions[0] = (struct drm_region){"local0", 100, 0, -1, -1, -1};
	fdinfo.regions[1] = (struct drm_region){"vram", 50, -1, -1, -1, -1};
	fdinfo.regions[2] = (struct drm_region){"vram2", -1, 40, -1, -1, -1};
	assert_near(drm_client_vram(&fdinfo).value, 150);
	fdinfo.regions[0].shared_bytes = 1;
	assert_near(drm_client_vram(&fdinfo).value, 149);
	fdinfo.regions[0].shared_bytes = 0;
	fdinfo.regions[1].resident_bytes = 0;
	assert_near(drm_client_vram(&fdinfo).value, 100);
	fdinfo.region_count = 0;
	assert_int_equal(drm_client_vram(&fdinfo).error, EOPNOTSUPP);
}

/* Opens a node of a GPU in a process, with what the kernel tells of it. */
static void put_client(const struct machine *machine, int pid, int fd, const char *node, const char *fdinfo)
{
	char name[256], path[4096], text[500];

	snprintf(text, sizeof text, "pos:\t0\nflags:\t0100002\n%s", fdinfo);
	snprintf(name, sizeof name, "proc/%d/fdinfo/%d", pid, fd);
	put_text(machine, name, text);
	snprintf(path, sizeof path, "%s/proc/%d/fd", machine->folder, pid);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/proc/%d/fd/%d", machine->folder, pid, fd);
	(void)symlink(node, path);
}

/* Without an address on the bus, a client has the device of its node, or else the only one of its driver. */
static void clients_are_found_by_address_node_and_driver(void **state)
{
	static const struct {
		const char *tree, *node, *fdinfo;
		int device; /* -1: none */
	} CASES[] = {
		{"hand-made-gpu-i915-6.2", "/dev/dri/renderD128",
		 "drm-driver:\ti915\ndrm-pdev:\t0000:03:00.0\n", 1},
		{"hand-made-gpu-i915-6.2", "/dev/dri/renderD129", "drm-driver:\ti915\n", 1},
		{"hand-made-gpu-i915-6.2", "/dev/dri/renderD128", "drm-driver:\ti915\n", 0},
		{"hand-made-gpu-i915-6.2", "/dev/dri/card1", "drm-driver:\ti915\n", 1},
		{"hand-made-gpu-i915-6.2", "/dev/dri/card0", "drm-driver:\ti915\n", 0},
		{"hand-made-gpu-i915-6.2", "/dev/dri/renderD190", "drm-driver:\ti915\n", -1},
		{"hand-made-gpu-vega20-5.19", "/dev/dri/renderD190", "drm-driver:\tamdgpu\n", 0},
		{"hand-made-gpu-vega20-5.19", "/dev/dri/renderD190", "drm-driver:\tother\n", -1},
		{"hand-made-gpu-vega20-5.19", "/dev/dri/renderD190",
		 "drm-driver:\tamdgpu\ndrm-pdev:\t0000:99:00.0\n", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct machine machine;
		char text[300];

		machine_open(&machine, CASES[i].tree);
		snprintf(text, sizeof text, "%sdrm-client-id:\t%zu\ndrm-memory-vram:\t1000 KiB\n",
			 CASES[i].fdinfo, 99 * (i % 2));
		put_client(&machine, 777, 9, CASES[i].node, text);
		machine.request.members[0] = 777;
		machine.request.member_count = 1;
		machine_pass(&machine);
		for (int device = 0; device < machine.survey->device_count; device++) {
			const struct gpu_process *found = process(&machine, device, 777);

			assert_int_equal(found != NULL, device == CASES[i].device);
			if (found)
				assert_near(found->vram_bytes.value, 1024000);
		}
		machine_close(&machine);
	}
}

/* In a second. Some drivers count a job when it ends, so a second more is believed, and counts as busy all the time. */
static void time_of_an_engine_has_limits(void **state)
{
	static const struct {
		const char *before, *now;
		double pct; /* -1: unknown */
	} CASES[] = {
		{"drm-engine-gfx:\t500 ns\n", "drm-engine-gfx:\t500 ns\n", 0},
		{"drm-engine-gfx:\t500 ns\n", "drm-engine-gfx:\t250000500 ns\n", 25},
		{"drm-engine-gfx:\t0 ns\n", "drm-engine-gfx:\t1000000000 ns\n", 100},
		{"drm-engine-gfx:\t0 ns\n", "drm-engine-gfx:\t2000000000 ns\n", 100},
		{"drm-engine-gfx:\t0 ns\n", "drm-engine-gfx:\t2000000001 ns\n", -1},
		{"drm-engine-gfx:\t500 ns\n", "drm-engine-gfx:\t499 ns\n", -1},
		{"drm-engine-gfx:\t0 ns\ndrm-engine-capacity-gfx:\t2\n",
		 "drm-engine-gfx:\t1000000000 ns\ndrm-engine-capacity-gfx:\t2\n", 50},
		{"drm-engine-gfx:\t0 ns\ndrm-engine-compute:\t0 ns\n",
		 "drm-engine-gfx:\t100000000 ns\ndrm-engine-compute:\t300000000 ns\n", 30},
		{"drm-engine-gfx:\t9 ns\ndrm-engine-compute:\t0 ns\n",
		 "drm-engine-gfx:\t8 ns\ndrm-engine-compute:\t300000000 ns\n", -1},
		{"drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1000\n",
		 "drm-cycles-rcs:\t150\ndrm-total-cycles-rcs:\t1200\n", 25},
		{"drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1000\n",
		 "drm-cycles-rcs:\t150\ndrm-total-cycles-rcs:\t1000\n", 0},
		{"drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1000\n",
		 "drm-cycles-rcs:\t99\ndrm-total-cycles-rcs:\t1200\n", -1},
		{"drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1000\n",
		 "drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1200\n", 0},
		{"", "", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		static const char START[] =
			"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t99\n";
		struct machine machine;
		char text[400];

		machine_open(&machine, "hand-made-gpu-vega20-5.19");
		machine.request.members[0] = 777;
		machine.request.member_count = 1;
		snprintf(text, sizeof text, "%s%s", START, CASES[i].before);
		put_client(&machine, 777, 9, "/dev/dri/renderD128", text);
		machine_pass(&machine);
		snprintf(text, sizeof text, "%s%s", START, CASES[i].now);
		put_client(&machine, 777, 9, "/dev/dri/renderD128", text);
		machine.now_ns += 1000000000;
		machine_pass(&machine);
		assert_non_null(process(&machine, 0, 777));
		assert_int_equal(process(&machine, 0, 777)->utilization_pct.error != 0, CASES[i].pct < 0);
		if (CASES[i].pct >= 0)
			assert_near(process(&machine, 0, 777)->utilization_pct.value, CASES[i].pct);
		machine_close(&machine);
	}
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
		cmocka_unit_test(a_card_has_the_memory_of_all_its_partitions),
		cmocka_unit_test(firmware_of_an_mi300_tells_energy_link_and_reasons),
		cmocka_unit_test(older_forms_of_amdgpu),
		cmocka_unit_test(i915_has_energy_but_no_utilisation),
		cmocka_unit_test(xe_counts_cycles_of_a_clock),
		cmocka_unit_test(files_of_intels_drivers_are_reasons),
		cmocka_unit_test(each_file_of_intels_drivers_is_a_reason),
		cmocka_unit_test(engines_are_told_apart_by_name),
		cmocka_unit_test(memory_is_resident_else_total_less_shared),
		cmocka_unit_test(clients_are_found_by_address_node_and_driver),
		cmocka_unit_test(time_of_an_engine_has_limits),
		cmocka_unit_test(a_machine_without_gpus_has_none),
		cmocka_unit_test(one_vendor_can_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
