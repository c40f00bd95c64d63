/*
 * Tests of the readings of NVIDIA's GPUs: nvidia_nvml.c, nvidia_device.c, nvidia_processes.c, tenants.c,
 * surveyor.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lay_tree.h"
#include "nvml_script.h"
#include "nvml_survey.h"
#include "unit.h"

#include "base/clock.h"

static char folder[64];

static int end(void **state)
{
	(void)state;
	end_survey();
	if (*folder)
		remove_tree(folder);
	*folder = '\0';
	return 0;
}

/* ---- devices --------------------------------------------------------------------------------------- */

static void every_reading_of_a_device(void **state)
{
	(void)state;
	begin("gpus 1\nutilization 0 75 30\nmemory 0 81920 600 20000\n");
	pass();
	assert_int_equal(survey->device_count, 1);
	assert_string_equal(survey->devices[0].uuid, "GPU-00000000-0000-0000-0000-000000000000");
	assert_string_equal(survey->devices[0].host_id, "0000:10:00.0");
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_DEDICATED);
	assert_near(reading(0, GPU_VRAM_TOTAL_BYTES), 81920.0 * 1048576);
	assert_near(reading(0, GPU_VRAM_USED_BYTES), 20000.0 * 1048576);
	assert_near(reading(0, GPU_CORE_COUNT), 16896);
	assert_near(reading(0, GPU_UTILIZATION_PCT), 75);
	assert_near(reading(0, GPU_MEMORY_UTILIZATION_PCT), 30);
	assert_near(reading(0, GPU_TEMPERATURE_CELSIUS), 40);
	assert_near(reading(0, GPU_POWER_WATTS), 318.5);
	assert_near(reading(0, GPU_POWER_LIMIT_WATTS), 700);
	assert_near(reading(0, GPU_FREQUENCY_HZ), 1980e6);
	assert_near(reading(0, GPU_MEMORY_FREQUENCY_HZ), 3201e6);
	assert_near(reading(0, GPU_FAN_PCT), 30);
	assert_near(reading(0, GPU_FREQUENCY_MAX_HZ), 2100e6);
	assert_near(reading(0, GPU_PCIE_GENERATION), 3);
	assert_near(reading(0, GPU_PCIE_GENERATION_MAX), 5);
	assert_near(reading(0, GPU_PCIE_LANES), 8);
	assert_near(reading(0, GPU_PCIE_LANES_MAX), 16);
	assert_near(reading(0, GPU_XID_ERRORS), 0);
	assert_near(reading(0, GPU_LAST_XID), 0);
	assert_near(reading(0, GPU_PERFORMANCE_STATE), 0);
	assert_int_equal((int)reading(0, GPU_THROTTLE_REASONS),
			 GPU_THROTTLE_POWER_CAP | GPU_THROTTLE_THERMAL_HARDWARE);
	assert_near(reading(0, GPU_ECC_CORRECTED_ERRORS), 3);
	assert_near(reading(0, GPU_ECC_UNCORRECTED_ERRORS), 1);
	assert_near(reading(0, GPU_REMAPPED_ROWS_CORRECTED), 0);
	assert_near(reading(0, GPU_REMAP_FAILED), 0);
	assert_near(reading(0, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
	assert_int_equal(error_of(0, GPU_NVLINK_SENT_BYTES_PER_SEC), EAGAIN);
	offset_ns += NSEC_PER_SEC;
	pass();
	/* The fake receives twice as much as it sends, a KiB a microsecond and more, and reads its own clock. */
	assert_true(reading(0, GPU_NVLINK_RECEIVED_BYTES_PER_SEC) >
		    1.5 * reading(0, GPU_NVLINK_SENT_BYTES_PER_SEC));
	assert_true(reading(0, GPU_NVLINK_SENT_BYTES_PER_SEC) > 500);
	assert_near(reading(0, GPU_COVERED_SECS) * 0.75, reading(0, GPU_BUSY_SECS));
	assert_true(reading(0, GPU_COVERED_SECS) >= 1);
}

static void an_unsupported_counter_is_alone_in_its_loss(void **state)
{
	static const struct {
		const char *function;
		enum gpu_reading reading;
		int result;
	} CASES[] = {
		{"nvmlDeviceGetUtilizationRates", GPU_UTILIZATION_PCT, 3},
		{"nvmlDeviceGetTemperature", GPU_TEMPERATURE_CELSIUS, 3},
		{"nvmlDeviceGetPowerUsage", GPU_POWER_WATTS, 3},
		{"nvmlDeviceGetEnforcedPowerLimit", GPU_POWER_LIMIT_WATTS, 3},
		{"nvmlDeviceGetClockInfo", GPU_FREQUENCY_HZ, 3},
		{"nvmlDeviceGetFanSpeed", GPU_FAN_PCT, 3},
		{"nvmlDeviceGetPerformanceState", GPU_PERFORMANCE_STATE, 3},
		{"nvmlDeviceGetCurrentClocksThrottleReasons", GPU_THROTTLE_REASONS, 3},
		{"nvmlDeviceGetTotalEccErrors", GPU_ECC_CORRECTED_ERRORS, 3},
		{"nvmlDeviceGetPcieThroughput", GPU_PCIE_SENT_BYTES_PER_SEC, 3},
		{"nvmlDeviceGetEncoderUtilization", GPU_ENCODER_UTILIZATION_PCT, 3},
		{"nvmlDeviceGetNumGpuCores", GPU_CORE_COUNT, 3},
		{"nvmlDeviceGetFanSpeed", GPU_FAN_PCT, 26},
		{"nvmlDeviceGetTotalEccErrors", GPU_ECC_CORRECTED_ERRORS, 22},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		char script[200];
		int absent = 0;

		snprintf(script, sizeof script, "gpus 1\ngpm 0 10\nmemory 0 1000 10 100\nresult %s %d\n",
			 CASES[i].function, CASES[i].result);
		begin(script);
		pass();
		assert_int_equal(error_of(0, CASES[i].reading), EOPNOTSUPP);
		assert_near(reading(0, GPU_VRAM_USED_BYTES), 100.0 * 1048576);
		for (int r = 0; r < GPU_BUSY_SECS; r++)
			absent += survey->devices[0].readings[r].error == EOPNOTSUPP;
		assert_true(absent <= 2);
		end(NULL);
	}
	begin("gpus 1\n");
}

static void garbage_is_not_taken_for_a_percentage(void **state)
{
	(void)state;
	begin("gpus 1\nutilization 0 4294967295 101\n");
	pass();
	assert_int_equal(error_of(0, GPU_UTILIZATION_PCT), EOPNOTSUPP);
	assert_int_equal(error_of(0, GPU_MEMORY_UTILIZATION_PCT), EIO);
}

static void any_number_of_devices(void **state)
{
	(void)state;
	begin("gpus 16\nutilization 15 44 0\nresult nvmlDeviceGetHandleByIndex 4 3\n");
	pass();
	/* The driver counts one that we may not use. */
	assert_int_equal(survey->device_count, 15);
	assert_near(reading(14, GPU_UTILIZATION_PCT), 44);
	assert_int_equal(survey->devices[14].index, 15);
	end(NULL);
	begin("gpus 0\n");
	pass();
	assert_int_equal(survey->device_count, 0);
}

static void energy_is_integrated_where_no_counter_exists(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlDeviceGetTotalEnergyConsumption 3\n");
	pass();
	offset_ns += 10 * NSEC_PER_SEC;
	pass();
	assert_int_equal(survey->devices[0].energy_source, GPU_ENERGY_FROM_POWER);
	assert_true(reading(0, GPU_ENERGY_JOULES) >= 3185 && reading(0, GPU_ENERGY_JOULES) < 3200);
}

static void a_library_of_long_ago(void **state)
{
	(void)state;
	begin_at("nvml_fake_old", "/",
		 "gpus 1\nmemory 0 81920 600 20000\nprocess 0 77 c 1000 10\nprocess 0 78 g 500 20\n");
	pass();
	assert_near(reading(0, GPU_VRAM_USED_BYTES), 20600.0 * 1048576);
	assert_near(process(0, 77)->vram_bytes.value, 1000.0 * 1048576);
	assert_near(process(0, 77)->utilization_pct.value, 10);
	assert_near(process(0, 78)->vram_bytes.value, 500.0 * 1048576);
	assert_int_equal(error_of(0, GPU_NVLINK_SENT_BYTES_PER_SEC), EOPNOTSUPP);
}

static void unified_memory_does_not_count_as_vram(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlDeviceGetMemoryInfo 3\nresult nvmlDeviceGetMemoryInfo_v2 3\nprocess 0 77 c "
	      "1000 10\n");
	pass();
	assert_int_equal(survey->devices[0].memory_kind, GPU_MEMORY_UNIFIED);
	assert_int_equal(error_of(0, GPU_VRAM_TOTAL_BYTES), EOPNOTSUPP);
	assert_int_equal(error_of(0, GPU_VRAM_USED_BYTES), EOPNOTSUPP);
	assert_near(process(0, 77)->vram_bytes.value, 1000.0 * 1048576);
}

/* ---- failures -------------------------------------------------------------------------------------- */

static void a_lost_device_is_null_and_the_others_live(void **state)
{
	(void)state;
	begin("gpus 2\nutilization 0 50 0\nutilization 1 60 0\nprocess 1 77 c 10 60\n");
	pass();
	nvml_script_set(
		"gpus 2\nutilization 0 50 0\nresult nvmlDeviceGetMemoryInfo_v2 15 1\nprocess 1 77 c 10 60\n");
	pass();
	pass();
	assert_int_equal(survey->device_count, 2);
	assert_near(reading(0, GPU_UTILIZATION_PCT), 50);
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), ENODEV);
	assert_int_equal(error_of(1, GPU_POWER_WATTS), ENODEV);
	assert_int_equal(survey->devices[1].tenant_count, -1);
	assert_near(reading(1, GPU_VRAM_TOTAL_BYTES), 81920.0 * 1048576);
	/* A device may come back after a reset. */
	nvml_script_set("gpus 2\nutilization 1 70 0\n");
	for (int i = 0; i < 5; i++)
		pass();
	assert_near(reading(1, GPU_UTILIZATION_PCT), 70);
}

static void a_driver_that_does_not_fit_is_tried_again(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlInit 18\n");
	pass();
	assert_int_equal(survey->device_count, 0);
	assert_int_equal(survey->error, EPROTO);
	assert_non_null(strstr(survey->problem, "Driver/library version mismatch"));
	nvml_script_set("gpus 1\n");
	pass();
	/* It does not come back at once. */
	assert_int_equal(survey->error, EPROTO);
	offset_ns += 2 * NSEC_PER_SEC;
	pass();
	assert_int_equal(survey->error, 0);
	assert_int_equal(survey->device_count, 1);
}

static void a_missing_library_is_a_fault_to_be_told(void **state)
{
	(void)state;
	begin("gpus 1\n");
	surveyor_free(surveyor);
	setenv("TRACKER_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
	assert_int_equal(surveyor_new(&root, &(struct gpu_setup){.interval_ns = 1}, &surveyor), 0);
	pass();
	assert_int_equal(survey->error, ENOENT);
	assert_non_null(strstr(survey->problem, "libnvidia-ml"));
}

static void devices_are_hidden_before_a_request_names_the_job(void **state)
{
	char sleep[] = "sleep", long_time[] = "20", hidden[] = "CUDA_VISIBLE_DEVICES=1";
	char *const words[] = {sleep, long_time, NULL}, *const environment[] = {hidden, NULL};
	struct gpu_setup setup = {.interval_ns = 1};
	pid_t job;

	(void)state;
	begin("gpus 2\n");
	if (is_emulated())
		return;
	assert_int_equal(posix_spawnp(&job, "sleep", NULL, NULL, words, environment), 0);
	/* The new program has its environment a moment after the old one is gone. */
	while (root_read_pid(&root, job, "environ") == 0)
		sched_yield();
	for (int64_t has_job = 0; has_job < 2; has_job++) {
		surveyor_free(surveyor);
		setup.job = has_job ? job : 0;
		assert_int_equal(surveyor_new(&root, &setup, &surveyor), 0);
		assert_int_equal(surveyor_pass(surveyor, NULL, &survey), 0);
		assert_int_equal(survey->devices[0].visible, !has_job);
		assert_int_equal(survey->devices[1].visible, 1);
	}
	kill(job, SIGKILL);
	assert_int_equal(waitpid(job, NULL, 0), job);
}

/* ---- processes ------------------------------------------------------------------------------------- */

static void a_process_in_two_lists_holds_its_memory_once(void **state)
{
	(void)state;
	begin("gpus 1\nprocess 0 77 cg 1000 10\nprocess 0 78 m 200 5\nprocess 0 79 g 300 0\n");
	pass();
	assert_int_equal(survey->process_count, 3);
	assert_int_equal(survey->devices[0].tenant_count, 3);
	assert_near(process(0, 77)->vram_bytes.value, 1000.0 * 1048576);
	assert_int_equal(process(0, 77)->kinds, GPU_PROCESS_COMPUTE | GPU_PROCESS_GRAPHICS);
	assert_int_equal(process(0, 78)->kinds, GPU_PROCESS_COMPUTE | GPU_PROCESS_MPS_CLIENT);
	assert_int_equal(process(0, 79)->kinds, GPU_PROCESS_GRAPHICS);
}

/* As on an H100: the client is in two lists, and its server has all of the samples. */
static void the_use_of_a_client_of_mps_is_unknown(void **state)
{
	(void)state;
	begin("gpus 1\nprocess 0 77 cm 1000 -1\nprocess 0 78 c 66 51\nprocess 0 79 c 100 -1\n");
	pass();
	assert_int_equal(process(0, 77)->utilization_pct.error, EXDEV);
	assert_int_equal(process(0, 77)->memory_utilization_pct.error, EXDEV);
	assert_near(process(0, 77)->vram_bytes.value, 1000.0 * 1048576);
	assert_near(process(0, 78)->utilization_pct.value, 51);
	assert_near(process(0, 79)->utilization_pct.value, 0);
}

static void records_are_walked_by_the_size_that_was_written(void **state)
{
	static const int SIZES[] = {16, 24, 32};
	char script[200];

	(void)state;
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		snprintf(script, sizeof script,
			 "gpus 1\nrecord_bytes %d\nprocess 0 77 c 1000 10\nprocess 0 78 c 200 5\nprocess 0 "
			 "79 c 300 0\n",
			 SIZES[i]);
		begin(script);
		pass();
		assert_int_equal(survey->process_count, 3);
		assert_near(process(0, 79)->vram_bytes.value, 300.0 * 1048576);
		end(NULL);
	}
	/* The size of the record is unknown: read nothing rather than garbage. */
	begin("gpus 1\nrecord_bytes 20\nprocess 0 77 c 1000 10\nprocess 0 78 c 200 5\nprocess 0 79 c 300 "
	      "0\n");
	pass();
	assert_int_equal(survey->process_count, 0);
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_UNKNOWN);
}

static void a_list_that_fails_is_not_an_empty_one(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlDeviceGetComputeRunningProcesses_v3 10\nprocess 0 77 c 1000 10\nprocess 0 "
	      "78 g 200 "
	      "5\n");
	pass();
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_UNKNOWN);
	assert_int_equal(survey->devices[0].tenant_count, -1);
}

static void lists_longer_than_expected(void **state)
{
	char script[64 * 200];
	int length = snprintf(script, sizeof script, "gpus 1\n");

	(void)state;
	for (int i = 0; i < 300; i++)
		length += snprintf(script + length, sizeof script - (size_t)length, "process 0 %d c 1 1\n",
				   1000 + i);
	begin(script);
	pass();
	assert_int_equal(survey->process_count, 300);
	assert_near(process(0, 1299)->utilization_pct.value, 1);
}

static void samples_are_limited_to_this_interval_and_living_processes(void **state)
{
	(void)state;
	begin("gpus 1\nprocess 0 77 c 10 40\nprocess 0 78 c 10 -1\nsample 0 78 100 90\nsample 0 99 0.1 80\n"
	      "sample 0 77 50 100\n");
	pass();
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 40);
	/* 78 holds a context and has been idle since: 0, not the 90 that is still in the buffer. */
	assert_near(process(0, 78)->utilization_pct.value, 0);
	/* 99 has ended. */
	assert_null(process(0, 99));
	assert_int_equal(survey->process_count, 2);
}

static void samples_that_cannot_be_are_left_out(void **state)
{
	(void)state;
	begin("gpus 1\nprocess 0 77 c 10 250\n");
	pass();
	/* It was active, but for an unknown time. */
	assert_int_equal(process(0, 77)->utilization_pct.error, EIO);
	assert_near(process(0, 77)->vram_bytes.value, 10.0 * 1048576);
	end(NULL);
	begin("gpus 1\nprocess 0 77 c 10 50\nsample 0 77 0.1 250\n");
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 50);
}

static void between_two_samples_a_process_goes_on(void **state)
{
	(void)state;
	begin("gpus 1\nsampling_secs 30\nprocess 0 77 c 10 40\n");
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 40);
	for (int i = 0; i < 3; i++) {
		offset_ns += NSEC_PER_SEC;
		pass();
		assert_near(process(0, 77)->utilization_pct.value, 40);
	}
	assert_true(process(0, 77)->busy_secs.value >= 1.2);
	nvml_script_set("gpus 1\nsampling_secs 30\nprocess 0 77 c 10 -1\n");
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 40);
	realtime_offset_ns += NSEC_PER_SEC + NSEC_PER_SEC / 10;
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 40);
	realtime_offset_ns += NSEC_PER_SEC;
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 0);
}

static void newer_devices_answer_the_newer_call_only(void **state)
{
	(void)state;
	begin("gpus 1\nutilization_call new\nprocess 0 77 c 10 40\nprocess 0 78 c 10 -1\n");
	pass();
	assert_near(process(0, 77)->utilization_pct.value, 40);
	assert_near(process(0, 78)->utilization_pct.value, 0);
}

static void without_either_call_utilisation_is_absent(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlDeviceGetProcessUtilization 3\nresult "
	      "nvmlDeviceGetProcessesUtilizationInfo 3\n"
	      "process 0 77 c 10 40\n");
	pass();
	assert_int_equal(process(0, 77)->utilization_pct.error, EOPNOTSUPP);
	assert_near(process(0, 77)->vram_bytes.value, 10.0 * 1048576);
}

static void busy_time_is_added_up_per_process(void **state)
{
	(void)state;
	begin("gpus 1\nprocess 0 77 c 10 40\n");
	pass();
	offset_ns += 2 * NSEC_PER_SEC;
	pass();
	assert_true(process(0, 77)->busy_secs.value >= 0.8 && process(0, 77)->busy_secs.value < 0.9);
}

/* ---- MIG ------------------------------------------------------------------------------------------- */

static void instances_have_memory_and_gpm_has_their_utilisation(void **state)
{
	(void)state;
	begin("gpus 1\nmig 0 2\ngpm 0 33\ninstance_process 0 1 77 500\n");
	pass();
	assert_int_equal(survey->device_count, 3);
	assert_int_equal(survey->devices[1].parent, 0);
	assert_int_equal(survey->devices[2].gpu_instance, 8);
	assert_string_equal(survey->devices[2].uuid, "MIG-00000000-0000-0000-0000-000000000001");
	assert_near(reading(2, GPU_SHARE), 1.0 / 7);
	assert_int_equal(error_of(0, GPU_UTILIZATION_PCT), EOPNOTSUPP);
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), EAGAIN);
	pass();
	assert_near(reading(1, GPU_UTILIZATION_PCT), 33);
	assert_near(process(2, 77)->vram_bytes.value, 500.0 * 1048576);
	assert_int_equal(survey->devices[2].tenant_count, 1);
	assert_int_equal(process(2, 77)->utilization_pct.error, EOPNOTSUPP);
}

static void without_gpm_an_instance_has_no_utilisation(void **state)
{
	(void)state;
	begin("gpus 1\nmig 0 1\n");
	pass();
	pass();
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), EOPNOTSUPP);
	assert_near(reading(1, GPU_VRAM_TOTAL_BYTES), 81920.0 * 1048576);
}

static void instances_come_and_go(void **state)
{
	(void)state;
	begin("gpus 1\nmig 0 1\n");
	pass();
	nvml_script_set("gpus 1\nmig 0 3\n");
	for (int i = 0; i < 40; i++)
		pass();
	assert_int_equal(survey->device_count, 4);
	nvml_script_set("gpus 1\n");
	for (int i = 0; i < 40; i++)
		pass();
	assert_int_equal(survey->device_count, 1);
}

/* The instance numbers are given anew: no sample of GPM of the earlier instance may be compared with a new one's. */
static void a_machine_full_of_devices_is_divided_anew_in_the_middle(void **state)
{
	static char script[600 * 40];
	int length =
		snprintf(script, sizeof script, "gpus 16\nmig 3 2\ngpm 3 40\ngpm 5 80\ngpm_step 1000000\n");

	(void)state;
	for (int i = 0; i < 600; i++)
		length += snprintf(script + length, sizeof script - (size_t)length, "process %d %d c 10 5\n",
				   i % 2 ? 4 : 15, 100000 + i);
	begin(script);
	pass();
	assert_int_equal(survey->device_count, 18);
	assert_int_equal(survey->process_count, 600);
	assert_int_equal(survey->left_out_count, 0);
	pass();
	assert_near(reading(4, GPU_UTILIZATION_PCT), 40);
	nvml_script_set("gpus 16\nmig 3 3\nmig 5 1\ngpm 3 60\ngpm 5 80\ngpm_step 1000000\n");
	for (int i = 0; i < 40; i++)
		pass();
	assert_int_equal(survey->device_count, 20);
	assert_int_equal(survey->process_count, 0);
	for (int i = 0; i < survey->device_count; i++) {
		const struct gpu_device *device = &survey->devices[i];

		if (device->parent >= 0)
			assert_near(reading(i, GPU_UTILIZATION_PCT), device->index == 3 ? 60 : 80);
		assert_true(device->parent < 0 || survey->devices[device->parent].index == device->index);
	}
}

/* ---- GPM ------------------------------------------------------------------------------------------- */

/* Metric number n of the fake is n percent of what the script says. */
static void units_have_the_mean_since_the_recorders_sample(void **state)
{
	(void)state;
	begin("gpus 1\ngpm 0 50\ngpm_step 1000000\n");
	request.sampled_ns = 1;
	pass();
	assert_int_equal(error_of(0, GPU_SM_ACTIVE_PCT), EAGAIN);
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 1);
	assert_near(reading(0, GPU_SM_OCCUPANCY_PCT), 1.5);
	assert_near(reading(0, GPU_TENSOR_ACTIVE_PCT), 2.5);
	assert_near(reading(0, GPU_DRAM_ACTIVE_PCT), 5);
	assert_near(reading(0, GPU_FP64_ACTIVE_PCT), 5.5);
	assert_near(reading(0, GPU_FP32_ACTIVE_PCT), 6);
	assert_near(reading(0, GPU_FP16_ACTIVE_PCT), 6.5);
	assert_near(reading(0, GPU_PCIE_SENT_BYTES_PER_SEC), 10.0 * 1048576);
	assert_near(reading(0, GPU_PCIE_RECEIVED_BYTES_PER_SEC), 10.5 * 1048576);
	assert_near(reading(0, GPU_NVLINK_RECEIVED_BYTES_PER_SEC), 30.0 * 1048576);
	assert_near(reading(0, GPU_NVLINK_SENT_BYTES_PER_SEC), 30.5 * 1048576);
	/* Three passes of one interval: 50, 100 and 100. Then the recorder has taken a sample. */
	nvml_script_set("gpus 1\ngpm 0 100\ngpm_step 1000000\n");
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 1.5);
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 5.0 / 3);
	request.sampled_ns = 2;
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 2);
	nvml_script_set("gpus 1\ngpm 0 0\ngpm_step 1000000\n");
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 1);
}

/* Instances are in sums by their utilisation, which is added up over the passes. */
static void an_instance_has_the_activity_of_its_units(void **state)
{
	(void)state;
	begin("gpus 1\nmig 0 1\ngpm 0 50\ngpm_step 1000000\n");
	request.sampled_ns = 1;
	pass();
	pass();
	assert_near(reading(1, GPU_SM_ACTIVE_PCT), 1);
	nvml_script_set("gpus 1\nmig 0 1\ngpm 0 100\ngpm_step 1000000\n");
	pass();
	assert_near(reading(1, GPU_UTILIZATION_PCT), 100);
	assert_near(reading(1, GPU_SM_ACTIVE_PCT), 1.5);
	assert_int_equal(error_of(0, GPU_SM_ACTIVE_PCT), EOPNOTSUPP);
}

static void without_gpm_the_units_have_a_reason(void **state)
{
	static const struct {
		const char *script;
		int reason;
	} CASES[] = {
		{"gpus 1\n", EOPNOTSUPP},                                               /* before Hopper */
		{"gpus 1\ngpm 0 50\nresult nvmlGpmQueryDeviceSupport 3\n", EOPNOTSUPP}, /* vGPU */
		{"gpus 1\ngpm 0 50\nresult nvmlGpmQueryDeviceSupport 4\n", EACCES},
		{"gpus 1\ngpm 0 50\nresult nvmlGpmSampleAlloc 20\n", ENOMEM},
		{"gpus 1\ngpm 0 50\nresult nvmlGpmSampleGet 3\n",
		 EOPNOTSUPP},                                              /* the flag of support was wrong */
		{"gpus 1\ngpm 0 50\nresult nvmlGpmSampleGet 19\n", EBUSY}, /* another tool has the counters */
		{"gpus 1\ngpm 0 50\nresult nvmlGpmMetricsGet 4\n", EACCES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		if (i > 0)
			end(NULL);
		begin(CASES[i].script);
		pass();
		pass();
		assert_int_equal(error_of(0, GPU_SM_ACTIVE_PCT), CASES[i].reason);
		assert_int_equal(error_of(0, GPU_DRAM_ACTIVE_PCT), CASES[i].reason);
		/* The older call has it. */
		assert_near(reading(0, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
		assert_near(reading(0, GPU_UTILIZATION_PCT), 0);
	}
}

static void a_metric_that_gpm_lacks_is_absent_alone(void **state)
{
	(void)state;
	begin("gpus 1\ngpm 0 50\ngpm_lacks 5\ngpm_nan 12\ngpm_step 1000\n");
	pass();
	pass();
	assert_int_equal(error_of(0, GPU_TENSOR_ACTIVE_PCT), EOPNOTSUPP);
	assert_int_equal(error_of(0, GPU_FP32_ACTIVE_PCT), EIO);
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 1);
	end(NULL);
	for (int lacking = 20; lacking <= 21; lacking++) {
		char script[100];

		snprintf(script, sizeof script, "gpus 1\ngpm 0 50\ngpm_lacks %d\ngpm_step 1000\n", lacking);
		if (lacking > 20)
			end(NULL);
		begin(script);
		pass();
		pass();
		assert_near(reading(0, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
		assert_near(reading(0, GPU_PCIE_RECEIVED_BYTES_PER_SEC), 2e6);
	}
}

/* A tool that had the counters in between has reset them, so a reading spans no such gap. */
static void after_a_failed_sample_gpm_begins_again(void **state)
{
	(void)state;
	begin("gpus 1\ngpm 0 50\ngpm_step 1000000\n");
	request.sampled_ns = 1;
	pass();
	pass();
	nvml_script_set("gpus 1\ngpm 0 50\ngpm_step 1000000\nresult nvmlGpmSampleGet 19\n");
	pass();
	assert_int_equal(error_of(0, GPU_SM_ACTIVE_PCT), EBUSY);
	nvml_script_set("gpus 1\ngpm 0 100\ngpm_step 1000000\n");
	pass();
	assert_int_equal(error_of(0, GPU_SM_ACTIVE_PCT), EAGAIN);
	pass();
	assert_near(reading(0, GPU_SM_ACTIVE_PCT), 2);
}

static void samples_of_gpm_are_given_back(void **state)
{
	void *library;
	int (*samples)(void);

	(void)state;
	begin("gpus 2\nmig 0 2\ngpm 0 33\ngpm 1 20\n");
	pass();
	library = dlopen(getenv("TRACKER_NVML_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(library);
	*(void **)&samples = dlsym(library, "nvml_fake_gpm_samples");
	assert_int_equal(samples(), 4 * 3);
	nvml_script_set("gpus 2\nmig 0 1\ngpm 0 33\ngpm 1 20\n");
	for (int i = 0; i < 40; i++)
		pass();
	assert_int_equal(samples(), 3 * 3);
	end_survey();
	assert_int_equal(samples(), 0);
	dlclose(library);
	begin("gpus 1\n");
}

/* ---- containers ------------------------------------------------------------------------------------ */

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof full, "%s/%s", folder, path);
	for (char *at = full + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void link_to(const char *path, const char *target)
{
	char full[256];

	put(path, "");
	snprintf(full, sizeof full, "%s/%s", folder, path);
	unlink(full);
	assert_int_equal(symlink(target, full), 0);
}

/* A container: process 5 with a descriptor of /dev/nvidia0, and process 6 without. */
static void begin_in_container(const char *script)
{
	snprintf(folder, sizeof folder, "/tmp/test_gpu_nvidia.XXXXXX");
	assert_non_null(mkdtemp(folder));
	link_to("proc/self/ns/pid", "pid:[4026532999]");
	put("proc/5/status", "Name:\tjob\nNSpid:\t5\t41\n");
	put("proc/6/status", "Name:\tjob\nNSpid:\t6\t42\n");
	link_to("proc/5/fd/3", "/dev/nvidia0");
	link_to("proc/5/fd/4", "/dev/nvidiactl");
	link_to("proc/6/fd/0", "/dev/null");
	begin_at("nvml_fake", folder, script);
	request.members[0] = 5;
	request.members[1] = 6;
	request.member_count = 2;
}

static void pids_that_all_exist_here_are_ours(void **state)
{
	(void)state;
	begin_in_container("gpus 1\nprocess 0 5 c 10 40\n");
	pass();
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_OURS);
	assert_non_null(process(0, 5));
}

static void pids_of_an_inner_namespace_are_mapped(void **state)
{
	(void)state;
	begin_in_container("gpus 1\nprocess 0 41 c 10 40\nprocess 0 9000 c 10 40\n");
	pass();
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_MAPPED);
	assert_non_null(process(0, 5));
	assert_non_null(process(0, 9000));
}

static void pids_of_the_host_are_foreign(void **state)
{
	(void)state;
	begin_in_container("gpus 2\nprocess 0 90001 c 10 40\nprocess 1 90002 c 10 40\n");
	pass();
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_FOREIGN);
	assert_int_equal(survey->devices[0].tenant_count, 1);
	assert_int_equal(survey->devices[0].holder_count, 1);
	/* No process of the job holds the second device's file. */
	assert_int_equal(survey->devices[1].holder_count, 0);
}

static void an_emptied_list_does_not_mean_idle(void **state)
{
	(void)state;
	begin_in_container("gpus 2\n");
	pass();
	assert_int_equal(survey->devices[0].pids, GPU_PIDS_FOREIGN);
	assert_int_equal(survey->devices[1].pids, GPU_PIDS_OURS);
	assert_int_equal(survey->devices[1].tenant_count, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_reading_of_a_device, end),
		cmocka_unit_test_teardown(an_unsupported_counter_is_alone_in_its_loss, end),
		cmocka_unit_test_teardown(garbage_is_not_taken_for_a_percentage, end),
		cmocka_unit_test_teardown(any_number_of_devices, end),
		cmocka_unit_test_teardown(energy_is_integrated_where_no_counter_exists, end),
		cmocka_unit_test_teardown(a_library_of_long_ago, end),
		cmocka_unit_test_teardown(unified_memory_does_not_count_as_vram, end),
		cmocka_unit_test_teardown(a_lost_device_is_null_and_the_others_live, end),
		cmocka_unit_test_teardown(a_driver_that_does_not_fit_is_tried_again, end),
		cmocka_unit_test_teardown(a_missing_library_is_a_fault_to_be_told, end),
		cmocka_unit_test_teardown(devices_are_hidden_before_a_request_names_the_job, end),
		cmocka_unit_test_teardown(a_process_in_two_lists_holds_its_memory_once, end),
		cmocka_unit_test_teardown(the_use_of_a_client_of_mps_is_unknown, end),
		cmocka_unit_test_teardown(records_are_walked_by_the_size_that_was_written, end),
		cmocka_unit_test_teardown(a_list_that_fails_is_not_an_empty_one, end),
		cmocka_unit_test_teardown(lists_longer_than_expected, end),
		cmocka_unit_test_teardown(samples_are_limited_to_this_interval_and_living_processes, end),
		cmocka_unit_test_teardown(samples_that_cannot_be_are_left_out, end),
		cmocka_unit_test_teardown(between_two_samples_a_process_goes_on, end),
		cmocka_unit_test_teardown(newer_devices_answer_the_newer_call_only, end),
		cmocka_unit_test_teardown(without_either_call_utilisation_is_absent, end),
		cmocka_unit_test_teardown(busy_time_is_added_up_per_process, end),
		cmocka_unit_test_teardown(instances_have_memory_and_gpm_has_their_utilisation, end),
		cmocka_unit_test_teardown(without_gpm_an_instance_has_no_utilisation, end),
		cmocka_unit_test_teardown(instances_come_and_go, end),
		cmocka_unit_test_teardown(a_machine_full_of_devices_is_divided_anew_in_the_middle, end),
		cmocka_unit_test_teardown(units_have_the_mean_since_the_recorders_sample, end),
		cmocka_unit_test_teardown(an_instance_has_the_activity_of_its_units, end),
		cmocka_unit_test_teardown(without_gpm_the_units_have_a_reason, end),
		cmocka_unit_test_teardown(a_metric_that_gpm_lacks_is_absent_alone, end),
		cmocka_unit_test_teardown(after_a_failed_sample_gpm_begins_again, end),
		cmocka_unit_test_teardown(samples_of_gpm_are_given_back, end),
		cmocka_unit_test_teardown(pids_that_all_exist_here_are_ours, end),
		cmocka_unit_test_teardown(pids_of_an_inner_namespace_are_mapped, end),
		cmocka_unit_test_teardown(pids_of_the_host_are_foreign, end),
		cmocka_unit_test_teardown(an_emptied_list_does_not_mean_idle, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
