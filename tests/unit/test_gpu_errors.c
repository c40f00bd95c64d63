/* Tests of the errors that NVIDIA's driver tells: Xid events, errors of memory, and rows that were replaced. */
#include <errno.h>
#include <stdio.h>

#include "nvml_script.h"
#include "nvml_survey.h"
#include "unit.h"

static int end(void **state)
{
	(void)state;
	end_survey();
	return 0;
}

static void errors_of_a_device_are_counted_and_outlive_it(void **state)
{
	(void)state;
	begin("gpus 2\n");
	pass();
	nvml_script_set("gpus 2\nxid 1 31 3\n");
	pass();
	pass();
	assert_near(reading(0, GPU_XID_ERRORS), 0);
	assert_near(reading(1, GPU_XID_ERRORS), 3);
	assert_near(reading(1, GPU_LAST_XID), 31);
	nvml_script_set("gpus 2\nxid 1 79 1\nresult nvmlDeviceGetMemoryInfo_v2 15 1\n");
	pass();
	pass();
	assert_int_equal(error_of(1, GPU_POWER_WATTS), ENODEV);
	assert_near(reading(1, GPU_XID_ERRORS), 4);
	assert_near(reading(1, GPU_LAST_XID), 79);
}

/* The list is made anew in each 31st pass if it has changed. */
static void errors_are_kept_when_devices_are_listed_anew(void **state)
{
	(void)state;
	begin("gpus 2\nmig 0 1\n");
	pass();
	nvml_script_set("gpus 2\nmig 0 1\nxid 1 31 3\nxid 0 13 2\n");
	pass();
	pass();
	nvml_script_set("gpus 3\nmig 0 1\n");
	for (int i = 0; i < 40; i++)
		pass();
	assert_int_equal(survey->device_count, 4);
	assert_near(reading(2, GPU_XID_ERRORS), 3);
	assert_near(reading(2, GPU_LAST_XID), 31);
	assert_near(reading(0, GPU_XID_ERRORS), 2);
	assert_near(reading(0, GPU_LAST_XID), 13);
	assert_near(reading(3, GPU_XID_ERRORS), 0);
	assert_int_equal(error_of(1, GPU_XID_ERRORS), EOPNOTSUPP);
}

/* Measuring takes 40 ms, so it is done for one device in each pass. */
static void each_device_has_its_turn_to_be_measured(void **state)
{
	(void)state;
	begin("gpus 2\n");
	pass();
	assert_near(reading(0, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
	assert_int_equal(error_of(1, GPU_PCIE_SENT_BYTES_PER_SEC), EAGAIN);
	pass();
	assert_near(reading(1, GPU_PCIE_SENT_BYTES_PER_SEC), 1e6);
}

/* The counters of errors are read in every fifth pass, and at once after an Xid. */
static void an_xid_has_the_counters_of_errors_read_at_once(void **state)
{
	(void)state;
	begin("gpus 1\n");
	pass();
	nvml_script_set("gpus 1\necc 0 10 2\nremapped 0 5 6 1 1\n");
	pass();
	assert_near(reading(0, GPU_ECC_UNCORRECTED_ERRORS), 1);
	nvml_script_set("gpus 1\necc 0 20 4\nremapped 0 5 6 1 1\nxid 0 63 1\n");
	pass();
	pass();
	assert_near(reading(0, GPU_ECC_CORRECTED_ERRORS), 23);
	assert_near(reading(0, GPU_ECC_UNCORRECTED_ERRORS), 5);
	assert_near(reading(0, GPU_REMAPPED_ROWS_CORRECTED), 5);
	assert_near(reading(0, GPU_REMAPPED_ROWS_UNCORRECTED), 6);
	assert_near(reading(0, GPU_REMAP_PENDING), 1);
	assert_near(reading(0, GPU_REMAP_FAILED), 1);
}

static void rows_are_unknown_where_the_driver_does_not_tell_them(void **state)
{
	static const struct {
		int result, error;
	} CASES[] = {{3, EOPNOTSUPP}, {4, EACCES}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		char script[80];

		snprintf(script, sizeof script, "gpus 1\nresult nvmlDeviceGetRemappedRows %d\n",
			 CASES[i].result);
		begin(script);
		pass();
		for (int r = GPU_REMAPPED_ROWS_CORRECTED; r <= GPU_REMAP_FAILED; r++)
			assert_int_equal(error_of(0, (enum gpu_reading)r), CASES[i].error);
		end(NULL);
	}
	/* An old library lacks the function. */
	begin_at("nvml_fake_old", "/", "gpus 1\n");
	pass();
	assert_int_equal(error_of(0, GPU_REMAP_PENDING), EOPNOTSUPP);
}

static void without_events_errors_are_unknown(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlEventSetCreate 3\n");
	pass();
	assert_int_equal(error_of(0, GPU_XID_ERRORS), EOPNOTSUPP);
	end(NULL);
	begin("gpus 1\nresult nvmlDeviceRegisterEvents 4\n");
	pass();
	assert_int_equal(error_of(0, GPU_XID_ERRORS), EACCES);
	assert_int_equal(error_of(0, GPU_LAST_XID), EACCES);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(errors_of_a_device_are_counted_and_outlive_it, end),
		cmocka_unit_test_teardown(errors_are_kept_when_devices_are_listed_anew, end),
		cmocka_unit_test_teardown(each_device_has_its_turn_to_be_measured, end),
		cmocka_unit_test_teardown(an_xid_has_the_counters_of_errors_read_at_once, end),
		cmocka_unit_test_teardown(rows_are_unknown_where_the_driver_does_not_tell_them, end),
		cmocka_unit_test_teardown(without_events_errors_are_unknown, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
