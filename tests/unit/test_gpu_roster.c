/*
 * Tests of src/gpu/roster.c through the surveyor: devices that go and come back, and drivers that start late.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "nvml_script.h"
#include "nvml_survey.h"
#include "unit.h"

#include "base/clock.h"

static int end(void **state)
{
	(void)state;
	end_survey();
	return 0;
}

/* ---- devices that are no longer counted ------------------------------------------------------------ */

static void pass_until_listed_anew(void)
{
	for (int i = 0; i < 40; i++) {
		offset_ns += NSEC_PER_SEC / 10;
		pass();
	}
}

static void a_removed_device_keeps_its_row(void **state)
{
	double busy_secs;

	(void)state;
	begin("gpus 3\nutilization 0 10 0\nutilization 1 20 0\nutilization 2 50 0\nprocess 2 77 c 10 40\n");
	pass();
	pass_until_listed_anew();
	assert_near(reading(2, GPU_UTILIZATION_PCT), 50);
	assert_near(reading(2, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
	busy_secs = reading(2, GPU_BUSY_SECS);
	nvml_script_set("gpus 3\ngone 1\nutilization 0 10 0\nutilization 1 20 0\nutilization 2 50 0\n"
			"process 2 77 c 10 40\nresult nvmlDeviceGetMemoryInfo_v2 15 1\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 3);
	assert_int_equal(survey->error, 0);
	/* NVML now calls device 2 number 1. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(survey->devices[i].index, i);
		assert_int_equal(survey->devices[i].file_number, i);
		assert_int_equal(survey->devices[i].uuid[11], '0' + i);
	}
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), ENODEV);
	assert_int_equal(error_of(1, GPU_POWER_WATTS), ENODEV);
	assert_near(reading(1, GPU_VRAM_TOTAL_BYTES), 81920.0 * 1048576);
	assert_near(reading(0, GPU_UTILIZATION_PCT), 10);
	assert_near(reading(2, GPU_UTILIZATION_PCT), 50);
	/* Sums and readings of the other devices continue. */
	assert_true(reading(2, GPU_BUSY_SECS) > busy_secs + 1.9 &&
		    reading(2, GPU_BUSY_SECS) < busy_secs + 2.5);
	assert_true(process(2, 77)->busy_secs.value > 3.1 && process(2, 77)->busy_secs.value < 3.6);
	assert_near(reading(2, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
	nvml_script_set("gpus 3\nutilization 1 20 0\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 3);
	assert_near(reading(1, GPU_UTILIZATION_PCT), 20);
}

/* The driver lists the processes in any order. */
static void busy_time_follows_a_process_to_another_place(void **state)
{
	(void)state;
	begin("gpus 2\nprocess 0 77 c 10 20\nprocess 0 78 c 10 40\nprocess 1 77 c 10 80\n");
	pass();
	offset_ns += NSEC_PER_SEC;
	pass();
	nvml_script_set("gpus 2\nprocess 0 79 c 10 -1\nprocess 0 78 c 10 -1\nprocess 0 77 c 10 -1\nprocess 1 "
			"77 c 10 -1\n");
	realtime_offset_ns += 5 * NSEC_PER_SEC;
	pass();
	assert_true(process(0, 77)->busy_secs.value >= 0.2 && process(0, 77)->busy_secs.value < 0.3);
	assert_true(process(0, 78)->busy_secs.value >= 0.4 && process(0, 78)->busy_secs.value < 0.5);
	assert_true(process(1, 77)->busy_secs.value >= 0.8 && process(1, 77)->busy_secs.value < 0.9);
	assert_near(process(0, 79)->busy_secs.value, 0);
}

static void a_device_that_cannot_be_had_for_a_while(void **state)
{
	(void)state;
	begin("gpus 2\nutilization 1 20 0\n");
	pass();
	nvml_script_set(
		"gpus 2\nresult nvmlDeviceGetHandleByIndex 15 1\nresult nvmlDeviceGetMemoryInfo_v2 15 1\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 2);
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), ENODEV);
	nvml_script_set("gpus 2\nutilization 1 20 0\n");
	pass_until_listed_anew();
	assert_near(reading(1, GPU_UTILIZATION_PCT), 20);
}

static void devices_of_a_driver_that_fails_keep_their_rows(void **state)
{
	(void)state;
	begin("gpus 2\nutilization 1 20 0\nprocess 1 77 c 10 40\n");
	pass();
	nvml_script_set("gpus 2\nutilization 1 20 0\nresult nvmlDeviceGetCount 1\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 2);
	assert_int_equal(survey->error, ENOTCONN);
	assert_int_equal(error_of(0, GPU_UTILIZATION_PCT), ENOTCONN);
	assert_int_equal(survey->process_count, 0);
	nvml_script_set("gpus 2\nutilization 1 20 0\n");
	offset_ns += 64 * NSEC_PER_SEC;
	pass();
	assert_int_equal(survey->error, 0);
	assert_int_equal(survey->device_count, 2);
	assert_near(reading(1, GPU_UTILIZATION_PCT), 20);
}

static void instances_of_a_lost_device_are_lost_with_it(void **state)
{
	(void)state;
	begin("gpus 2\nmig 0 2\ngpm 0 33\nutilization 1 50 0\n");
	pass();
	assert_int_equal(survey->device_count, 4);
	nvml_script_set("gpus 2\ngone 0\nmig 0 2\nutilization 1 50 0\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 4);
	for (int i = 0; i < 3; i++)
		assert_int_equal(error_of(i, GPU_UTILIZATION_PCT), ENODEV);
	assert_int_equal(survey->devices[2].parent, 0);
	assert_int_equal(survey->devices[3].index, 1);
	assert_near(reading(3, GPU_UTILIZATION_PCT), 50);
}

static void dissolved_instances_disturb_nobody(void **state)
{
	double busy_secs;

	(void)state;
	begin("gpus 2\nmig 0 2\nutilization 1 50 0\nprocess 1 77 c 10 40\n");
	pass();
	pass_until_listed_anew();
	busy_secs = reading(3, GPU_BUSY_SECS);
	nvml_script_set("gpus 2\nutilization 0 5 0\nutilization 1 50 0\nprocess 1 77 c 10 40\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 2);
	assert_int_equal(survey->devices[1].index, 1);
	assert_true(reading(1, GPU_BUSY_SECS) > busy_secs + 1.9);
	assert_true(process(1, 77)->busy_secs.value > 3.1);
}

static void instances_of_a_device_that_moves_up_stay_its_own(void **state)
{
	(void)state;
	begin("gpus 2\nmig 0 2\nmig 1 2\n");
	pass();
	assert_int_equal(survey->device_count, 6);
	assert_int_equal(survey->devices[5].parent, 3);
	nvml_script_set("gpus 2\nmig 1 2\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 4);
	assert_int_equal(survey->devices[1].parent, -1);
	assert_int_equal(survey->devices[2].parent, 1);
	assert_int_equal(survey->devices[3].parent, 1);
}

/* No list sets the parent of an instance that is gone with its device: only the move can. */
static void instances_of_a_lost_device_move_up_with_it(void **state)
{
	(void)state;
	begin("gpus 2\nmig 0 2\nmig 1 2\n");
	pass();
	nvml_script_set("gpus 2\ngone 1\n");
	pass_until_listed_anew();
	assert_int_equal(survey->device_count, 4);
	assert_int_equal(error_of(1, GPU_UTILIZATION_PCT), ENODEV);
	assert_int_equal(survey->devices[1].parent, -1);
	assert_int_equal(survey->devices[2].parent, 1);
	assert_int_equal(survey->devices[3].parent, 1);
	assert_int_equal(survey->devices[3].gpu_instance, 8);
}

/* ---- drivers that start late ----------------------------------------------------------------------- */

static void a_driver_without_devices_is_asked_ever_more_seldom(void **state)
{
	int seen = 0;

	(void)state;
	begin("gpus 0\n");
	pass();
	assert_int_equal(survey->device_count, 0);
	assert_int_equal(survey->error, 0);
	for (int secs = 0; secs < 20; secs++) {
		offset_ns += NSEC_PER_SEC;
		pass();
		assert_int_equal(survey->error, 0);
	}
	/* The retries were after 1, 3, 7 and 15 seconds; the next comes after 31. */
	nvml_script_set("gpus 2\nutilization 1 30 0\n");
	for (int secs = 20; secs < 40 && !seen; secs++) {
		offset_ns += NSEC_PER_SEC;
		pass();
		seen = survey->device_count ? secs : 0;
	}
	assert_true(seen >= 28 && seen <= 32);
	assert_int_equal(survey->device_count, 2);
	assert_near(reading(1, GPU_UTILIZATION_PCT), 30);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_removed_device_keeps_its_row, end),
		cmocka_unit_test_teardown(busy_time_follows_a_process_to_another_place, end),
		cmocka_unit_test_teardown(a_device_that_cannot_be_had_for_a_while, end),
		cmocka_unit_test_teardown(devices_of_a_driver_that_fails_keep_their_rows, end),
		cmocka_unit_test_teardown(instances_of_a_lost_device_are_lost_with_it, end),
		cmocka_unit_test_teardown(dissolved_instances_disturb_nobody, end),
		cmocka_unit_test_teardown(instances_of_a_device_that_moves_up_stay_its_own, end),
		cmocka_unit_test_teardown(instances_of_a_lost_device_move_up_with_it, end),
		cmocka_unit_test_teardown(a_driver_without_devices_is_asked_ever_more_seldom, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
