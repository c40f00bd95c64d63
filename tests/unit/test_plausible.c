/* Tests of src/gpu/plausible.c: a reading that no device can have is dropped. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"

#include "gpu/plausible.h"
#include "gpu/vendor.h"

static struct gpu_survey survey;
static struct gpu_device *device;

static int set_up(void **state)
{
	(void)state;
	memset(&survey, 0, sizeof survey);
	gpu_survey_add_device(&survey, "NVIDIA");
	device = gpu_survey_add_device(&survey, "NVIDIA");
	return 0;
}

static int64_t error_of(enum gpu_reading which, double value)
{
	device->readings[which] = gpu_value(value);
	gpu_drop_impossible(&survey);
	return device->readings[which].error;
}

static void readings_are_kept_within_their_bounds(void **state)
{
	static const struct {
		enum gpu_reading reading;
		double lowest, highest;
	} BOUNDS[] = {
#define GPU_READING(id, lowest, highest) {id, lowest, highest},
#include "gpu/readings.def"
	};

	(void)state;
	for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) {
		set_up(NULL);
		assert_int_equal(error_of(BOUNDS[i].reading, BOUNDS[i].lowest), 0);
		assert_int_equal(error_of(BOUNDS[i].reading, BOUNDS[i].highest), 0);
		assert_int_equal(error_of(BOUNDS[i].reading, nextafter(BOUNDS[i].lowest, -INFINITY)), EIO);
		assert_int_equal(error_of(BOUNDS[i].reading, nextafter(BOUNDS[i].highest, INFINITY)), EIO);
		assert_int_equal(error_of(BOUNDS[i].reading, NAN), EIO);
		/* A reason is not replaced. */
		device->readings[BOUNDS[i].reading] = gpu_absent(EACCES);
		gpu_drop_impossible(&survey);
		assert_int_equal(device->readings[BOUNDS[i].reading].error, EACCES);
	}
	/* Sums of the survey itself have none. */
	assert_int_equal(error_of(GPU_BUSY_SECS, 1e18), 0);
}

static void memory_in_use_is_at_most_all_of_it(void **state)
{
	(void)state;
	assert_int_equal(error_of(GPU_VRAM_USED_BYTES, 1e14), 0);
	device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1000);
	assert_int_equal(error_of(GPU_VRAM_USED_BYTES, 1000), 0);
	assert_int_equal(error_of(GPU_VRAM_USED_BYTES, 1001), EIO);
}

static void energy_that_cannot_be_has_no_source(void **state)
{
	(void)state;
	device->energy_source = GPU_ENERGY_COUNTER;
	assert_int_equal(error_of(GPU_ENERGY_JOULES, 5), 0);
	assert_int_equal(device->energy_source, GPU_ENERGY_COUNTER);
	assert_int_equal(error_of(GPU_ENERGY_JOULES, 1e16), EIO);
	assert_int_equal(device->energy_source, GPU_ENERGY_NONE);
	device->energy_source = GPU_ENERGY_FROM_POWER;
	gpu_drop_impossible(&survey);
	assert_int_equal(device->energy_source, GPU_ENERGY_FROM_POWER);
}

static int64_t process_error(double bytes)
{
	struct gpu_process *process = gpu_survey_process(&survey, 0, 1, 7);

	process->vram_bytes = gpu_value(bytes);
	gpu_drop_impossible(&survey);
	return process->vram_bytes.error;
}

static void a_process_holds_at_most_the_memory_of_its_device(void **state)
{
	(void)state;
	survey.devices[0].readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(10);
	assert_int_equal(process_error(1e15), 0);
	assert_int_equal(process_error(1.1e15), EIO);
	device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1000);
	assert_int_equal(process_error(1000), 0);
	assert_int_equal(process_error(1001), EIO);
	survey.processes[0].vram_bytes = gpu_absent(EACCES);
	gpu_drop_impossible(&survey);
	assert_int_equal(survey.processes[0].vram_bytes.error, EACCES);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(readings_are_kept_within_their_bounds, set_up),
		cmocka_unit_test_setup(memory_in_use_is_at_most_all_of_it, set_up),
		cmocka_unit_test_setup(energy_that_cannot_be_has_no_source, set_up),
		cmocka_unit_test_setup(a_process_holds_at_most_the_memory_of_its_device, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
