/* GPUs through the public library: values by instance, reasons, and effects on the calling program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nvml_script.h"
#include "unit.h"

#include "resource_tracker.h"

enum { TRIES = 2000 };

static rt_tracker *tracker;

static int begin(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	setenv("TRACKER_HELPER", path, 1);
	nvml_script_begin("nvml_fake");
	nvml_script_set("gpus 3\nutilization 0 10 1\nutilization 2 75 30\nmemory 2 1000 10 250\n"
			"result nvmlDeviceGetFanSpeed 3 2\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	rt_close(tracker);
	tracker = NULL;
	nvml_script_end();
	return 0;
}

static void open_tracker(void)
{
	rt_config *config;

	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "no-process", "1"), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	rt_config_free(config);
}

/* Samples until there are that many devices, because the helper needs a moment. */
static void wait_for_devices(size_t count)
{
	for (int i = 0; i < TRIES; i++) {
		assert_int_equal(rt_sample(tracker), 0);
		if (rt_instance_count(tracker, rt_metric_find("gpu.utilization_pct")) == count)
			return;
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	fail_msg("there are no %zu devices", count);
}

static struct rt_value value_of(const char *name, size_t instance)
{
	struct rt_value value = {0};

	assert_int_equal(rt_get(tracker, rt_metric_find(name), instance, &value), 0);
	return value;
}

static void values_by_instance(void **state)
{
	struct rt_value value;

	(void)state;
	/* An emulated program cannot start another one. */
	if (getenv("MESON_EXE_WRAPPER"))
		skip();
	open_tracker();
	wait_for_devices(3);
	assert_true(value_of("gpu.utilization_pct", 0).real > 9.9 &&
		    value_of("gpu.utilization_pct", 0).real < 10.1);
	assert_true(value_of("gpu.utilization_pct", 2).real > 74.9);
	assert_int_equal(value_of("gpu.vram_used_bytes", 2).count, INT64_C(250) << 20);
	assert_int_equal(value_of("gpu.index", 1).count, 1);
	assert_string_equal(value_of("gpu.uuid", 1).text, "GPU-00000001-0000-0000-0000-000000000000");
	assert_string_equal(value_of("gpu.memory_kind", 0).text, "dedicated");
	/* A counter that one of the devices lacks. */
	assert_int_not_equal(value_of("gpu.fan_pct", 1).type, RT_TYPE_NONE);
	value = value_of("gpu.fan_pct", 2);
	assert_int_equal(value.type, RT_TYPE_NONE);
	assert_string_equal(rt_reason(value.reason), "this kernel or device does not count it");
	assert_int_equal(rt_get(tracker, rt_metric_find("gpu.uuid"), 3, &value), -ENOENT);
	assert_true(value_of("totals.gpu_usage", 0).real > 0.84 &&
		    value_of("totals.gpu_usage", 0).real < 0.86);
}

/* The program's own wait() meets no child of ours, neither while the helper runs nor afterwards. */
static void a_program_gets_no_children(void **state)
{
	(void)state;
	if (getenv("MESON_EXE_WRAPPER"))
		skip();
	open_tracker();
	wait_for_devices(3);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	rt_close(tracker);
	tracker = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void before_the_helper_answers_nothing_is_zero(void **state)
{
	struct rt_value value;

	(void)state;
	if (getenv("MESON_EXE_WRAPPER"))
		skip();
	nvml_script_set("gpus 1\nhang nvmlInit\n");
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	value = value_of("totals.gpu_usage", 0);
	assert_int_equal(value.type, RT_TYPE_NONE);
	assert_string_equal(rt_reason(value.reason),
			    "not read yet: the run was too short, or a helper process has not answered");
	assert_int_equal(rt_instance_count(tracker, rt_metric_find("gpu.uuid")), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_by_instance, begin, end),
		cmocka_unit_test_setup_teardown(a_program_gets_no_children, begin, end),
		cmocka_unit_test_setup_teardown(before_the_helper_answers_nothing_is_zero, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
