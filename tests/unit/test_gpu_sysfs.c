/*
 * Readings of GPUs by files that each test lays itself: other_drm.c, intel_sysfs.c, amd_sysfs.c, drm_device.c, drm_clients.c, and
 * which devices a job may see.
 */
#include "scratch.h"

#include <errno.h>
#include <stdarg.h>

#include "base/clock.h"
#include "gpu/surveyor.h"

#define DEVICE "sys/class/drm/renderD128/device/"
#define HWMON DEVICE "hwmon/hwmon2/"

static struct root root;
static struct surveyor *surveyor;
static struct gpu_request request;
static const struct gpu_survey *survey;
static int64_t now_ns;

static int64_t laid_now(void *context)
{
	(void)context;
	return now_ns;
}

static int begin(void **state)
{
	unsetenv("TRACKER_NVML_LIBRARY");
	now_ns = 1000 * NSEC_PER_SEC;
	memset(&request, 0, sizeof request);
	surveyor = NULL;
	return scratch_enter(state);
}

static void close_survey(void)
{
	if (!surveyor)
		return;
	surveyor_free(surveyor);
	root_close(&root);
	surveyor = NULL;
}

static int end(void **state)
{
	close_survey();
	/* A missing folder takes no descriptor. */
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0);
	return scratch_leave(state);
}

/* A second after the last pass. */
static void pass(void)
{
	static const struct clocks CLOCKS = {laid_now, laid_now, NULL};
	static const struct gpu_setup SETUP = {.interval_ns = NSEC_PER_SEC};

	if (!surveyor) {
		assert_int_equal(root_open(&root, ".", &CLOCKS), 0);
		assert_int_equal(surveyor_new(&root, &SETUP, &surveyor), 0);
	}
	assert_int_equal(surveyor_pass(surveyor, &request, &survey), 0);
	now_ns += NSEC_PER_SEC;
}

/* With the cards that are there now. */
static void pass_anew(void)
{
	close_survey();
	pass();
}

static void lay_card(int render, const char *driver, const char *pci_id)
{
	char path[100], text[300];

	snprintf(path, sizeof path, "sys/class/drm/renderD%d/device/uevent", render);
	snprintf(text, sizeof text, "DRIVER=%s\n%s%s%s", driver, pci_id ? "PCI_ID=" : "",
		 pci_id ? pci_id : "", pci_id ? "\nPCI_SLOT_NAME=0000:03:00.0\n" : "");
	put_below(path, text);
}

static const struct gpu_number *number(int device, enum gpu_reading which)
{
	return &survey->devices[device].readings[which];
}

#define assert_reading(device, which, expected) \
	do { \
		double wanted_reading = (expected); \
		assert_int_equal(number(device, which)->error, 0); \
		if (number(device, which)->value < wanted_reading * 0.999999 || \
		    number(device, which)->value > wanted_reading * 1.000001) \
			fail_msg("%g is not %g", number(device, which)->value, wanted_reading); \
	} while (0)
#define assert_reason(device, which, expected) assert_int_equal(number(device, which)->error, expected)

/* ---- other drivers --------------------------------------------------------------------------------- */

static void other_drivers_have_their_vendor_and_sensors(void **state)
{
	static const struct {
		const char *driver, *vendor;
	} CASES[] = {{"nouveau", "NVIDIA"}, {"panfrost", "Arm"},    {"panthor", "Arm"},
		     {"lima", "Arm"},       {"msm", "Qualcomm"},    {"msm_dpu", "Qualcomm"},
		     {"v3d", "Broadcom"},   {"etnaviv", "Vivante"}, {"asahi", "Apple"}};

	(void)state;
	put_below(HWMON "temp1_input", "51000\n");
	put_below(HWMON "power1_average", "2500000\n");
	put_below(HWMON "pwm1", "51\n");
	put_below(HWMON "pwm1_max", "255\n");
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		lay_card(128, CASES[i].driver, NULL);
		pass_anew();
		assert_int_equal(survey->device_count, 1);
		assert_string_equal(survey->devices[0].vendor, CASES[i].vendor);
		assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
		assert_int_equal(survey->devices[0].index, 0);
		assert_reading(0, GPU_TEMPERATURE_CELSIUS, 51);
		assert_reading(0, GPU_POWER_WATTS, 2.5);
		assert_reading(0, GPU_FAN_PCT, 20);
	}
	lay_card(128, "nouveau", "10DE:1234");
	pass_anew();
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_DEDICATED);
	assert_string_equal(survey->devices[0].name, "NVIDIA GPU 10de:1234");
	assert_string_equal(survey->devices[0].uuid, "nouveau-0000:03:00.0");
	lay_card(128, "vgem", NULL);
	close_survey();
	assert_int_equal(root_open(&root, ".", &SYSTEM_CLOCKS), 0);
	assert_int_equal(surveyor_new(&root, &(struct gpu_setup){.interval_ns = 1}, &surveyor), 0);
	assert_int_equal(surveyor_pass(surveyor, &request, &survey), -ENODEV);
}

/* Two cards of one driver, of which the second has another sensor of power. */
static void each_card_has_its_own_sensors(void **state)
{
	(void)state;
	lay_card(128, "nouveau", "10DE:1234");
	lay_card(129, "nouveau", "10DE:5678");
	lay_card(130, "i915", "8086:1111");
	put_below(HWMON "temp1_input", "40000\n");
	put_below("sys/class/drm/renderD129/device/hwmon/hwmon7/temp1_input", "60000\n");
	put_below("sys/class/drm/renderD129/device/hwmon/hwmon7/power1_input", "7000000\n");
	pass();
	assert_int_equal(survey->device_count, 3);
	for (int i = 0; i < 3; i++) {
		if (survey->devices[i].file_number == 128) {
			assert_reading(i, GPU_TEMPERATURE_CELSIUS, 40);
			assert_reason(i, GPU_POWER_WATTS, EOPNOTSUPP);
			assert_int_equal(survey->devices[i].index, 0);
		} else if (survey->devices[i].file_number == 129) {
			assert_reading(i, GPU_TEMPERATURE_CELSIUS, 60);
			assert_reading(i, GPU_POWER_WATTS, 7);
			assert_int_equal(survey->devices[i].index, 1);
		} else {
			assert_string_equal(survey->devices[i].vendor, "Intel");
			assert_reason(i, GPU_TEMPERATURE_CELSIUS, EOPNOTSUPP);
		}
	}
}

static void fans_tell_their_level_or_their_rotation(void **state)
{
	(void)state;
	lay_card(128, "nouveau", "10DE:1234");
	pass();
	assert_reason(0, GPU_FAN_PCT, EOPNOTSUPP);
	put_below(HWMON "fan1_input", "1500\n");
	pass_anew();
	assert_reason(0, GPU_FAN_PCT, EOPNOTSUPP);
	put_below(HWMON "fan1_max", "3000\n");
	pass();
	assert_reading(0, GPU_FAN_PCT, 50);
	put_below(HWMON "fan1_max", "0\n");
	pass();
	assert_reason(0, GPU_FAN_PCT, EIO);
	put_below(HWMON "pwm1", "255\n");
	put_below(HWMON "pwm1_max", "255\n");
	pass();
	assert_reading(0, GPU_FAN_PCT, 100);
	/* A file without a number. */
	put_below(HWMON "pwm1", "auto\n");
	put_below(HWMON "fan1_input", "fast\n");
	pass();
	assert_reason(0, GPU_FAN_PCT, EIO);
}

static void sensors_stand_in_a_folder_of_their_own(void **state)
{
	(void)state;
	lay_card(128, "nouveau", "10DE:1234");
	put_below(DEVICE "hwmon/other/temp1_input", "40000\n");
	put_below(DEVICE "hwmon/hwmon-with-a-name-of-more-than-half-of-a-path/temp1_input", "40000\n");
	pass();
	assert_reason(0, GPU_TEMPERATURE_CELSIUS, EOPNOTSUPP);
	put_below(HWMON "temp1_input", "50000\n");
	pass_anew();
	assert_reading(0, GPU_TEMPERATURE_CELSIUS, 50);
}

static void the_first_file_that_has_a_number_counts(void **state)
{
	(void)state;
	lay_card(128, "nouveau", "10DE:1234");
	put_below(HWMON "power1_average", "n/a\n");
	pass();
	assert_reason(0, GPU_POWER_WATTS, EIO);
	put_below(HWMON "power1_input", "3000000\n");
	pass();
	assert_reading(0, GPU_POWER_WATTS, 3);
	put_below(HWMON "power1_average", "4000000\n");
	pass();
	assert_reading(0, GPU_POWER_WATTS, 4);
	unlink(HWMON "power1_average");
	put_below(HWMON "power1_input", "n/a\n");
	pass();
	assert_reason(0, GPU_POWER_WATTS, EIO);
}

/* ---- Intel ----------------------------------------------------------------------------------------- */

static void memory_of_intels_cards(void **state)
{
	(void)state;
	lay_card(128, "i915", "8086:1111");
	pass();
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
	assert_reason(0, GPU_VRAM_TOTAL_BYTES, EOPNOTSUPP);
	put_below(DEVICE "tile0/physical_vram_size_bytes", "16384\n");
	pass_anew();
	assert_reason(0, GPU_VRAM_TOTAL_BYTES, EOPNOTSUPP);
	put_below(DEVICE "tile0/physical_vram_size_bytes", "0xzz\n");
	pass_anew();
	assert_reason(0, GPU_VRAM_TOTAL_BYTES, EIO);
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
	put_below(DEVICE "tile0/physical_vram_size_bytes", "0x00000003fa000000\n");
	pass_anew();
	assert_reading(0, GPU_VRAM_TOTAL_BYTES, 17079205888.0);
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_DEDICATED);
	unlink(DEVICE "tile0/physical_vram_size_bytes");
	put_below(HWMON "temp2_input", "45000\n");
	pass_anew();
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_DEDICATED);
	assert_reading(0, GPU_TEMPERATURE_CELSIUS, 45);
}

static void power_of_intels_cards_is_that_of_their_energy(void **state)
{
	(void)state;
	lay_card(128, "xe", "8086:1111");
	put_below(HWMON "energy1_input", "5000000\n");
	put_below(HWMON "power1_max", "190000000\n");
	put_below(HWMON "power2_max", "250000000\n");
	pass();
	assert_reading(0, GPU_ENERGY_JOULES, 5);
	assert_int_equal(survey->devices[0].energy_source, GPU_ENERGY_COUNTER);
	assert_reason(0, GPU_POWER_WATTS, EAGAIN);
	assert_reading(0, GPU_POWER_LIMIT_WATTS, 190);
	put_below(HWMON "energy1_input", "35000000\n");
	put_below(HWMON "power1_max", "0\n");
	pass();
	assert_reading(0, GPU_POWER_WATTS, 30);
	assert_reading(0, GPU_POWER_LIMIT_WATTS, 250);
	put_below(HWMON "power2_max", "0\n");
	pass();
	assert_reading(0, GPU_POWER_WATTS, 0);
	assert_reason(0, GPU_POWER_LIMIT_WATTS, EOPNOTSUPP);
	/* The counter began again. */
	put_below(HWMON "energy1_input", "34999999\n");
	pass();
	assert_reason(0, GPU_POWER_WATTS, EAGAIN);
	now_ns -= NSEC_PER_SEC;
	pass();
	assert_reason(0, GPU_POWER_WATTS, EAGAIN);
	put_below(HWMON "energy1_input", "0\n");
	pass_anew();
	put_below(HWMON "energy1_input", "2000000\n");
	pass();
	assert_reading(0, GPU_POWER_WATTS, 2);
	unlink(HWMON "energy1_input");
	put_below(HWMON "energy2_input", "4000000\n");
	pass();
	assert_reading(0, GPU_ENERGY_JOULES, 4);
}

/* ---- AMD ------------------------------------------------------------------------------------------- */

static void files_of_amds_cards(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_below(DEVICE "product_name", "Instinct\n");
	put_below(DEVICE "unique_id", "ab12\n");
	put_below(DEVICE "vbios_version", "113-1\n");
	put_below(DEVICE "current_compute_partition", "CPX\n");
	put_below(DEVICE "current_memory_partition", "NPS4\n");
	put_below(DEVICE "mem_info_vram_total", "1000000\n");
	put_below(DEVICE "mem_info_vram_used", "400000\n");
	put_below(DEVICE "gpu_busy_percent", "37\n");
	put_below(DEVICE "mem_busy_percent", "12\n");
	put_below(DEVICE "pp_dpm_sclk", "0: 500Mhz\n1: 2410Mhz *\n2: 2600Mhz\n");
	put_below(DEVICE "pp_dpm_mclk", "0: 96Mhz\n1: 1000Mhz\n");
	put_below(HWMON "temp1_input", "55\n");
	put_below(HWMON "power1_average", "214000000\n");
	put_below(HWMON "power1_cap", "300000000\n");
	pass();
	assert_string_equal(survey->devices[0].name, "Instinct");
	assert_string_equal(survey->devices[0].uuid, "GPU-ab12");
	assert_int_equal(survey->devices[0].detail_count, 5);
	assert_string_equal(survey->devices[0].details[2].value, "113-1");
	assert_string_equal(survey->devices[0].details[3].name, "compute_partition");
	assert_string_equal(survey->devices[0].details[4].name, "memory_partition");
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_DEDICATED);
	assert_reading(0, GPU_VRAM_TOTAL_BYTES, 1e6);
	assert_reading(0, GPU_VRAM_USED_BYTES, 4e5);
	assert_reading(0, GPU_UTILIZATION_PCT, 37);
	assert_reading(0, GPU_MEMORY_UTILIZATION_PCT, 12);
	assert_reading(0, GPU_FREQUENCY_HZ, 2410e6);
	assert_reason(0, GPU_MEMORY_FREQUENCY_HZ, EIO);
	assert_reading(0, GPU_POWER_WATTS, 214);
	assert_reading(0, GPU_POWER_LIMIT_WATTS, 300);
	/* Some chips tell degrees, and others thousandths. */
	assert_reading(0, GPU_TEMPERATURE_CELSIUS, 55);
	put_below(HWMON "temp1_input", "1000\n");
	pass();
	assert_reading(0, GPU_TEMPERATURE_CELSIUS, 1);
	put_below(HWMON "temp1_input", "-5\n");
	put_below(HWMON "freq1_input", "1700000000\n");
	put_below(HWMON "freq2_input", "800000000\n");
	pass();
	assert_reading(0, GPU_FREQUENCY_HZ, 1700e6);
	assert_reading(0, GPU_MEMORY_FREQUENCY_HZ, 800e6);
	assert_int_equal(number(0, GPU_TEMPERATURE_CELSIUS)->error, 0);
	assert_true(number(0, GPU_TEMPERATURE_CELSIUS)->value == -5);
	put_below(HWMON "in1_label", "vddnb\n");
	pass_anew();
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
}

static void lay_node(int number, const char *properties, const char *gpu_id)
{
	char path[100];

	snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%d/properties", number);
	put_below(path, properties);
	if (!gpu_id)
		return;
	snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", number);
	put_below(path, gpu_id);
}

/* Nodes belong to the card of their render node, or else to that at their address. */
static void compute_nodes_of_amds_cards(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	lay_node(0, "simd_count 0\nsimd_per_cu 0\ndrm_render_minor 128\n", NULL);
	lay_node(1, "simd_count 1\nsimd_per_cu 1\ndrm_render_minor 128\n", "70\n");
	lay_node(2, "simd_count 8\nsimd_per_cu 4\ndrm_render_minor 130\ndomain 0\nlocation_id 768\n", "71\n");
	lay_node(3, "simd_count 99\nsimd_per_cu 1\ndrm_render_minor 131\ndomain 1\nlocation_id 768\n",
		 "72\n");
	lay_node(4, "simd_count 99\nsimd_per_cu 1\ndrm_render_minor 131\ndomain 0\nlocation_id 776\n",
		 "73\n");
	lay_node(5, "simd_count 99\nsimd_per_cu 1\ndrm_render_minor 131\nlocation_id 768\n", "74\n");
	put_below("sys/class/kfd/kfd/proc/60/vram_70", "1000\n");
	put_below("sys/class/kfd/kfd/proc/60/vram_71", "200\n");
	put_below("sys/class/kfd/kfd/proc/60/vram_72", "5\n");
	put_below("sys/class/kfd/kfd/proc/61/vram_70", "0\n");
	put_below("sys/class/kfd/kfd/proc/62/vram_70", "9");
	put_below("sys/class/kfd/kfd/proc/2147483647/vram_70", "1\n");
	put_below("sys/class/kfd/kfd/proc/2147483648/vram_70", "1\n");
	put_below("sys/class/kfd/kfd/proc/none/vram_70", "1\n");
	pass();
	assert_reading(0, GPU_CORE_COUNT, 3);
	assert_string_equal(survey->devices[0].details[survey->devices[0].detail_count - 1].name,
			    "partitions");
	assert_string_equal(survey->devices[0].details[survey->devices[0].detail_count - 1].value, "2");
	assert_int_equal(survey->process_count, 3);
	assert_int_equal(survey->devices[0].tenant_count, 3);
	for (int i = 0; i < 3; i++) {
		const struct gpu_process *one = &survey->processes[i];

		double bytes = one->pid == 60 ? 1200 : one->pid == 62 ? 9 : 1;

		assert_true(one->vram_bytes.value == bytes);
		assert_true(one->pid == 60 || one->pid == 62 || one->pid == 2147483647);
		assert_int_equal(one->kinds, GPU_PROCESS_COMPUTE);
	}
	/* The device at address 0 of the bus. */
	put_below("sys/class/drm/renderD128/device/uevent",
		  "DRIVER=amdgpu\nPCI_ID=1002:1\nPCI_SLOT_NAME=0000:00:00.0\n");
	lay_node(1, "simd_count 6\nsimd_per_cu 1\ndrm_render_minor 140\ndomain 0\nlocation_id 0\n", "75\n");
	pass_anew();
	assert_reading(0, GPU_CORE_COUNT, 6);
	assert_int_equal(survey->process_count, 0);
	assert_int_equal(survey->devices[0].tenant_count, 0);
}

static void errors_of_memory_that_amds_driver_tells(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	pass();
	assert_reason(0, GPU_ECC_CORRECTED_ERRORS, EOPNOTSUPP);
	assert_reason(0, GPU_FREQUENCY_HZ, EOPNOTSUPP);
	assert_reason(0, GPU_MEMORY_FREQUENCY_HZ, EOPNOTSUPP);
	put_below(DEVICE "ras/umc_err_count", "ce: 0\n");
	pass();
	assert_reading(0, GPU_ECC_CORRECTED_ERRORS, 0);
	assert_reason(0, GPU_ECC_UNCORRECTED_ERRORS, EOPNOTSUPP);
	put_below(DEVICE "ras/umc_err_count", "ue: 0\n");
	pass_anew();
	assert_reading(0, GPU_ECC_UNCORRECTED_ERRORS, 0);
	assert_reason(0, GPU_ECC_CORRECTED_ERRORS, EOPNOTSUPP);
	put_below(DEVICE "ras/umc_err_count", "ue: 3\nce: 12\n");
	pass();
	assert_reading(0, GPU_ECC_UNCORRECTED_ERRORS, 3);
	assert_reading(0, GPU_ECC_CORRECTED_ERRORS, 12);
}

static void a_record_of_the_firmware_that_is_cut_is_read_again(void **state)
{
	unsigned char record[96];

	(void)state;
	memset(record, 0xff, sizeof record);
	lay_card(128, "amdgpu", "1002:73BF");
	pass();
	assert_reason(0, GPU_THROTTLE_REASONS, EOPNOTSUPP);
	put_below(DEVICE "gpu_metrics", "");
	pass_anew();
	assert_reason(0, GPU_THROTTLE_REASONS, EBADMSG);
	memcpy(record, "\x60\0\1\1", 4);
	memcpy(record + 16, "\x28\0", 2);
	put_file(DEVICE "gpu_metrics", record, sizeof record);
	pass();
	assert_reason(0, GPU_THROTTLE_REASONS, EOPNOTSUPP);
	assert_reading(0, GPU_UTILIZATION_PCT, 40);
	assert_int_equal(survey->devices[0].energy_source, GPU_ENERGY_NONE);
	assert_reason(0, GPU_ENERGY_JOULES, EOPNOTSUPP);
	/* The driver's own file is nearer. */
	put_below(DEVICE "gpu_busy_percent", "9\n");
	pass();
	assert_reading(0, GPU_UTILIZATION_PCT, 9);
	/* A form that is unknown stays so. */
	record[3] = 9;
	put_file(DEVICE "gpu_metrics", record, sizeof record);
	unlink(DEVICE "gpu_busy_percent");
	pass();
	assert_reason(0, GPU_UTILIZATION_PCT, EOPNOTSUPP);
	record[3] = 1;
	put_file(DEVICE "gpu_metrics", record, sizeof record);
	pass();
	assert_reason(0, GPU_UTILIZATION_PCT, EOPNOTSUPP);
}

static void a_sleeping_card_is_idle(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_below(DEVICE "mem_info_vram_total", "1000000\n");
	put_below(DEVICE "gpu_busy_percent", "37\n");
	put_below(DEVICE "power/runtime_status", "active\n");
	pass();
	assert_reading(0, GPU_UTILIZATION_PCT, 37);
	put_below(DEVICE "power/runtime_status", "suspended\n");
	pass();
	assert_reading(0, GPU_UTILIZATION_PCT, 0);
	assert_reading(0, GPU_VRAM_USED_BYTES, 0);
	assert_reason(0, GPU_POWER_WATTS, EAGAIN);
	assert_reading(0, GPU_VRAM_TOTAL_BYTES, 1e6);
	put_below(HWMON "in1_label", "vddnb\n");
	pass_anew();
	assert_reason(0, GPU_VRAM_USED_BYTES, EAGAIN);
}

static void busy_time_and_energy_are_added_up(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_below(DEVICE "gpu_busy_percent", "50\n");
	put_below(HWMON "power1_average", "100000000\n");
	pass();
	assert_reading(0, GPU_BUSY_SECS, 0);
	pass();
	assert_reading(0, GPU_BUSY_SECS, 0.5);
	assert_reading(0, GPU_COVERED_SECS, 1);
	assert_reading(0, GPU_ENERGY_JOULES, 100);
	assert_int_equal(survey->devices[0].energy_source, GPU_ENERGY_FROM_POWER);
	unlink(DEVICE "gpu_busy_percent");
	put_below(HWMON "power1_average", "50000000\n");
	pass();
	assert_reading(0, GPU_ENERGY_JOULES, 150);
	put_below(DEVICE "gpu_busy_percent", "100\n");
	pass();
	assert_reading(0, GPU_BUSY_SECS, 1.5);
	assert_reading(0, GPU_COVERED_SECS, 2);
}

/* ---- the job --------------------------------------------------------------------------------------- */

static void put_client(int pid, int fd, const char *fdinfo)
{
	char path[100], text[500];

	snprintf(text, sizeof text, "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n%s", fdinfo);
	snprintf(path, sizeof path, "proc/%d/fdinfo/%d", pid, fd);
	put_below(path, text);
	snprintf(path, sizeof path, "proc/%d/fd", pid);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "proc/%d/fd/%d", pid, fd);
	(void)unlink(path);
	assert_int_equal(symlink("/dev/dri/renderD128", path), 0);
}

static const struct gpu_process *process(int pid)
{
	for (int64_t i = 0; i < survey->process_count; i++)
		if (survey->processes[i].pid == pid)
			return &survey->processes[i];
	return NULL;
}

static void have_members(int first, int second)
{
	request.members[0] = first;
	request.members[1] = second;
	request.member_count = first ? second ? 2 : 1 : 0;
}

/* In the first pass no time has gone by: counters that are there say 0, and a client without any says nothing. */
static void clients_begin_with_no_use(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t0 ns\n");
	put_client(51, 3, "drm-client-id:\t2\ndrm-cycles-gfx:\t0\ndrm-total-cycles-gfx:\t10\n");
	put_client(52, 3, "drm-client-id:\t3\n");
	put_client(53, 3, "drm-client-id:\t9\ndrm-cycles-gfx:\t0\ndrm-total-cycles-gfx:\t10\n");
	request.members[0] = 50;
	request.members[1] = 51;
	request.members[2] = 52;
	request.members[3] = 53;
	request.member_count = 4;
	pass();
	assert_int_equal(process(50)->utilization_pct.error, 0);
	assert_true(process(50)->utilization_pct.value == 0);
	assert_int_equal(process(51)->utilization_pct.error, 0);
	assert_int_equal(process(52)->utilization_pct.error, EOPNOTSUPP);
	assert_int_equal(process(52)->busy_secs.error, EOPNOTSUPP);
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_OURS);
	/* Half a second each; then the members change places, and one has another descriptor. */
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t500000000 ns\n");
	put_client(51, 3, "drm-client-id:\t2\ndrm-cycles-gfx:\t5\ndrm-total-cycles-gfx:\t30\n");
	pass();
	assert_true(process(50)->utilization_pct.value == 50 && process(50)->busy_secs.value == 0.5);
	assert_true(process(51)->utilization_pct.value == 25 && process(51)->busy_secs.value == 0.25);
	assert_int_equal(process(53)->utilization_pct.error, 0);
	assert_true(process(53)->utilization_pct.value == 0);
	have_members(51, 50);
	pass();
	assert_true(process(50)->busy_secs.value == 0.5 && process(51)->busy_secs.value == 0.25);
	/* A process whose use was unknown begins with 0. */
	request.members[2] = 52;
	request.member_count = 3;
	pass();
	put_client(52, 3, "drm-client-id:\t3\ndrm-engine-gfx:\t0 ns\n");
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t750000000 ns\n");
	pass();
	assert_true(process(52)->busy_secs.value == 0);
	assert_true(process(50)->busy_secs.value == 0.75);
}

static int64_t device_of(int pid)
{
	assert_non_null(process(pid));
	return survey->devices[process(pid)->device].file_number;
}

/* Before Linux 5.19 the kernel tells nothing of a descriptor but its node. */
static void clients_without_a_form_have_the_device_of_their_node(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	lay_card(129, "amdgpu", NULL);
	put_client(50, 3, "drm-client-id:\t0\ndrm-engine-gfx:\t0 ns\n");
	put_client(51, 3, "");
	put_below("proc/51/fdinfo/3", "pos:\t0\nflags:\t02\n");
	unlink("proc/51/fd/3");
	assert_int_equal(symlink("/dev/dri/renderD129", "proc/51/fd/3"), 0);
	have_members(50, 51);
	pass();
	assert_int_equal(device_of(50), 128);
	assert_int_equal(process(50)->utilization_pct.error, 0);
	assert_int_equal(device_of(51), 129);
	assert_int_equal(process(51)->kinds, GPU_PROCESS_GRAPHICS);
	assert_int_equal(process(51)->utilization_pct.error, EOPNOTSUPP);
}

/* A display's node without a card of its own leads to the only device of the driver. */
static void clients_of_a_device_without_pci_are_found_by_its_driver(void **state)
{
	(void)state;
	lay_card(128, "v3d", NULL);
	lay_card(129, "nouveau", "10DE:1234");
	put_below("proc/50/fdinfo/3", "drm-driver:\tv3d\ndrm-client-id:\t4\ndrm-engine-render:\t0 ns\n");
	mkdir("proc/50/fd", 0755);
	assert_int_equal(symlink("/dev/dri/card7", "proc/50/fd/3"), 0);
	have_members(50, 0);
	pass();
	assert_int_equal(device_of(50), 128);
	lay_card(130, "v3d", NULL);
	pass_anew();
	assert_null(process(50));
}

/* A client that does not work, and a process with two clients, which are added up. */
static void clients_of_a_process_are_added_up(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t0 ns\ndrm-memory-vram:\t1 KiB\n");
	put_client(
		51, 3,
		"drm-client-id:\t2\ndrm-engine-gfx:\t0 ns\ndrm-engine-enc:\t0 ns\ndrm-memory-vram:\t2 KiB\n");
	put_client(
		51, 4,
		"drm-client-id:\t3\ndrm-engine-gfx:\t0 ns\ndrm-engine-enc:\t0 ns\ndrm-memory-vram:\t3 KiB\n");
	have_members(50, 51);
	pass();
	put_client(51, 3,
		   "drm-client-id:\t2\ndrm-engine-gfx:\t250000000 ns\ndrm-engine-enc:\t100000000 "
		   "ns\ndrm-memory-vram:\t2 KiB\n");
	put_client(51, 4,
		   "drm-client-id:\t3\ndrm-engine-gfx:\t300000000 ns\ndrm-engine-enc:\t200000000 "
		   "ns\ndrm-memory-vram:\t3 KiB\n");
	pass();
	assert_int_equal(process(50)->utilization_pct.error, 0);
	assert_true(process(50)->utilization_pct.value == 0 && process(50)->vram_bytes.value == 1024);
	assert_true(process(51)->utilization_pct.value == 55 &&
		    process(51)->encoder_utilization_pct.value == 30);
	assert_true(process(51)->vram_bytes.value == 5 * 1024);
	assert_int_equal(process(51)->decoder_utilization_pct.error, EOPNOTSUPP);
	/* A client that was closed takes its time along. */
	unlink("proc/51/fd/4");
	unlink("proc/51/fdinfo/4");
	for (int i = 0; i < 12; i++)
		pass();
	assert_true(process(51)->utilization_pct.value == 0 && process(51)->vram_bytes.value == 2048);
}

static void without_members_no_process_is_asked(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t0 ns\n");
	pass();
	assert_int_equal(survey->process_count, 0);
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_NOT_ASKED);
	/* Use before it was seen does not count. */
	have_members(50, 0);
	put_client(50, 3, "drm-client-id:\t1\ndrm-engine-gfx:\t900000000 ns\n");
	pass();
	assert_true(process(50)->utilization_pct.value == 0);
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_OURS);
}

static void put_environment(int pid, const char *variable)
{
	char path[100];

	snprintf(path, sizeof path, "proc/%d/environ", pid);
	put_below(path, "");
	put_file(path, variable, strlen(variable) + 1);
}

/* The environment of a process is read at its first pass, and each eleventh. */
static void devices_are_hidden_by_the_environment_of_the_job(void **state)
{
	(void)state;
	lay_card(128, "amdgpu", "1002:73BF");
	lay_card(129, "amdgpu", "1002:73BF");
	put_below("dev/dri/renderD128", "");
	put_below("dev/dri/renderD129", "");
	put_environment(50, "ROCR_VISIBLE_DEVICES=1");
	put_environment(51, "ROCR_VISIBLE_DEVICES=0");
	pass();
	assert_int_equal(survey->devices[0].visible + survey->devices[1].visible, 2);
	have_members(50, 0);
	pass();
	assert_int_equal(survey->devices[0].visible, 0);
	assert_int_equal(survey->devices[1].visible, 1);
	have_members(51, 0);
	pass();
	assert_int_equal(survey->devices[0].visible, 1);
	assert_int_equal(survey->devices[1].visible, 0);
	put_environment(51, "A=b");
	for (int i = 0; i < 10; i++) {
		pass();
		assert_int_equal(survey->devices[1].visible, 0);
	}
	pass();
	assert_int_equal(survey->devices[1].visible, 1);
	/* The environment of a process that has gone is that of the recorder. */
	put_below("proc/self/environ", "");
	put_file("proc/self/environ", "HIP_VISIBLE_DEVICES=", 21);
	have_members(52, 0);
	put_environment(52, "");
	pass();
	assert_int_equal(survey->devices[0].visible + survey->devices[1].visible, 2);
	have_members(99, 0);
	pass();
	assert_int_equal(survey->devices[0].visible + survey->devices[1].visible, 0);
	/* Files that do not exist here cannot be opened. */
	have_members(51, 0);
	unlink("dev/dri/renderD129");
	pass();
	assert_int_equal(survey->devices[0].visible, 1);
	assert_int_equal(survey->devices[1].visible, 0);
}

#define LAID_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		LAID_TEST(other_drivers_have_their_vendor_and_sensors),
		LAID_TEST(each_card_has_its_own_sensors),
		LAID_TEST(fans_tell_their_level_or_their_rotation),
		LAID_TEST(sensors_stand_in_a_folder_of_their_own),
		LAID_TEST(the_first_file_that_has_a_number_counts),
		LAID_TEST(memory_of_intels_cards),
		LAID_TEST(power_of_intels_cards_is_that_of_their_energy),
		LAID_TEST(files_of_amds_cards),
		LAID_TEST(compute_nodes_of_amds_cards),
		LAID_TEST(errors_of_memory_that_amds_driver_tells),
		LAID_TEST(a_record_of_the_firmware_that_is_cut_is_read_again),
		LAID_TEST(a_sleeping_card_is_idle),
		LAID_TEST(busy_time_and_energy_are_added_up),
		LAID_TEST(clients_begin_with_no_use),
		LAID_TEST(clients_without_a_form_have_the_device_of_their_node),
		LAID_TEST(clients_of_a_device_without_pci_are_found_by_its_driver),
		LAID_TEST(clients_of_a_process_are_added_up),
		LAID_TEST(without_members_no_process_is_asked),
		LAID_TEST(devices_are_hidden_by_the_environment_of_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
