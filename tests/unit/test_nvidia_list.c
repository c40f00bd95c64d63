/* Which NVIDIA devices and instances are listed, and when the list is made again (src/gpu/nvidia_nvml.c), by the calls of the fake NVML. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nvml_script.h"
#include "nvml_survey.h"
#include "unit.h"

#include "base/clock.h"

static char log_path[] = "/tmp/test_nvidia_list.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	memcpy(log_path + sizeof log_path - 7, "XXXXXX", 6);
	close(mkstemp(log_path));
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_survey();
	return unlink(log_path);
}

/* A script that also logs each call. */
static const char *logged(const char *script)
{
	static char text[1000];

	snprintf(text, sizeof text, "log %s\n%s", log_path, script);
	return text;
}

static int calls_of(const char *function)
{
	FILE *file = fopen(log_path, "re");
	char line[200];
	int count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, " \n")] = '\0';
		count += strcmp(line, function) == 0;
	}
	fclose(file);
	return count;
}

static void pass_times(int count)
{
	for (int i = 0; i < count; i++)
		pass();
}

/* The identity of a device is read when it is listed. */
static void an_unchanged_list_is_looked_at_each_31_passes_and_kept(void **state)
{
	int counted;

	(void)state;
	begin(logged("gpus 2\nmig 1 2\n"));
	pass();
	assert_int_equal(survey->device_count, 4);
	assert_int_equal(calls_of("nvmlDeviceGetUUID"), 4);
	counted = calls_of("nvmlDeviceGetCount");
	pass_times(29);
	assert_int_equal(calls_of("nvmlDeviceGetCount"), counted);
	pass();
	assert_int_equal(calls_of("nvmlDeviceGetCount"), counted + 1);
	pass_times(30);
	assert_int_equal(calls_of("nvmlDeviceGetCount"), counted + 1);
	pass();
	assert_int_equal(calls_of("nvmlDeviceGetCount"), counted + 2);
	assert_int_equal(calls_of("nvmlDeviceGetUUID"), 4);
}

/* Another number of devices, a device that can be had now, and one that was divided. */
static void a_list_that_no_longer_holds_is_made_again(void **state)
{
	static const struct {
		const char *before, *after;
		int before_count, after_count;
	} CASES[] = {
		{"gpus 2\n", "gpus 3\n", 2, 3},
		{"gpus 2\nresult nvmlDeviceGetHandleByIndex 4 1\n", "gpus 2\n", 1, 2},
		{"gpus 2\nmig 1 1\n", "gpus 2\nmig 1 2\n", 3, 4},
		{"gpus 2\nmig 1 2\n", "gpus 2\nmig 1 1\n", 4, 3},
		{"gpus 2\nmig 0 1\n", "gpus 2\nmig 1 1\n", 3, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		begin(logged(CASES[i].before));
		pass();
		assert_int_equal(survey->device_count, CASES[i].before_count);
		nvml_script_set(logged(CASES[i].after));
		pass_times(32);
		assert_int_equal(survey->device_count, CASES[i].after_count);
		if (i + 1 < sizeof CASES / sizeof *CASES)
			end_survey();
	}
}

/* Also those that are read in each fifth pass alone. */
static void readings_are_all_there_after_a_new_list(void **state)
{
	(void)state;
	begin(logged("gpus 2\n"));
	pass();
	nvml_script_set(logged("gpus 3\n"));
	for (int i = 0; survey->device_count < 3; i++) {
		assert_true(i < 40);
		pass();
	}
	for (int i = 0; i < 3; i++) {
		assert_near(reading(i, GPU_FAN_PCT), 30);
		assert_near(reading(i, GPU_POWER_LIMIT_WATTS), 700);
	}
}

static void a_device_that_is_lost_is_not_asked_for_its_instances(void **state)
{
	int asked;

	(void)state;
	begin(logged("gpus 1\nresult nvmlDeviceGetMemoryInfo_v2 15 0\n"));
	pass();
	asked = calls_of("nvmlDeviceGetMigMode");
	/* By then, it pauses for 8 passes after each attempt. */
	pass_times(31);
	assert_int_equal(calls_of("nvmlDeviceGetMigMode"), asked);
}

static void figures_that_an_instance_lacks_are_unknown(void **state)
{
	(void)state;
	begin("gpus 1\nmig 0 1\nresult nvmlDeviceGetGpuInstanceId 3\nresult nvmlDeviceGetComputeInstanceId "
	      "3\n"
	      "result nvmlDeviceGetMaxMigDeviceCount 3\nresult nvmlDeviceGetAttributes_v2 3\nresult "
	      "nvmlDeviceGetAttributes 3\n");
	pass();
	assert_int_equal(survey->device_count, 2);
	assert_int_equal(survey->devices[1].gpu_instance, -1);
	assert_int_equal(survey->devices[1].compute_instance, 0);
	assert_int_equal(error_of(1, GPU_SHARE), EOPNOTSUPP);
	end_survey();
	begin("gpus 1\nmig 0 1\n");
	pass();
	assert_int_equal(survey->devices[1].gpu_instance, 7);
	assert_near(reading(1, GPU_SHARE), 1.0 / 7);
	assert_int_equal(error_of(1, GPU_CORE_COUNT), EOPNOTSUPP);
	assert_int_equal(survey->devices[0].gpu_instance, -1);
	end_survey();
	/* Then it is one device. */
	begin("gpus 1\nmig 0 1\nresult nvmlDeviceGetMigMode 3\n");
	pass();
	assert_int_equal(survey->device_count, 1);
}

static void devices_that_cannot_be_counted_are_a_problem(void **state)
{
	(void)state;
	begin("gpus 1\nresult nvmlDeviceGetCount 10\n");
	pass();
	assert_int_equal(survey->device_count, 0);
	assert_int_equal(survey->error, ETIMEDOUT);
	assert_string_equal(survey->problem,
			    "GPUs of vendor nvidia cannot be read: NVML does not count its devices");
	/* It is tried again after a second, and then after two. */
	nvml_script_set("gpus 1\n");
	pass();
	assert_int_equal(survey->device_count, 0);
	offset_ns += NSEC_PER_SEC;
	pass();
	assert_int_equal(survey->device_count, 1);
	assert_int_equal(survey->error, 0);
}

static void the_driver_is_told_that_nothing_follows(void **state)
{
	(void)state;
	begin(logged("gpus 1\n"));
	pass();
	assert_int_equal(calls_of("nvmlShutdown"), 0);
	surveyor_free(surveyor);
	assert_int_equal(calls_of("nvmlEventSetFree"), 1);
	assert_int_equal(calls_of("nvmlShutdown"), 1);
	assert_int_equal(surveyor_new(&root, &(struct gpu_setup){.interval_ns = 1}, &surveyor), 0);
	end_survey();
	/* Without events there is nothing to free, and the errors of a device are unknown. */
	begin(logged("gpus 1\nresult nvmlEventSetCreate 3\n"));
	pass();
	assert_int_equal(error_of(0, GPU_XID_ERRORS), EOPNOTSUPP);
	surveyor_free(surveyor);
	assert_int_equal(calls_of("nvmlEventSetFree"), 1);
	assert_int_equal(surveyor_new(&root, &(struct gpu_setup){.interval_ns = 1}, &surveyor), 0);
	end_survey();
	begin("gpus 1\nresult nvmlDeviceRegisterEvents 4\n");
	pass();
	assert_int_equal(error_of(0, GPU_XID_ERRORS), EACCES);
	assert_int_equal(error_of(0, GPU_LAST_XID), EACCES);
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		LIST_TEST(an_unchanged_list_is_looked_at_each_31_passes_and_kept),
		LIST_TEST(a_list_that_no_longer_holds_is_made_again),
		LIST_TEST(readings_are_all_there_after_a_new_list),
		LIST_TEST(a_device_that_is_lost_is_not_asked_for_its_instances),
		LIST_TEST(figures_that_an_instance_lacks_are_unknown),
		LIST_TEST(devices_that_cannot_be_counted_are_a_problem),
		LIST_TEST(the_driver_is_told_that_nothing_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
