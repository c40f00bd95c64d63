/* Tests of src/collect/gpu_row.c: rows of devices, in the words and units of a recording. */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "collect/gpu_row.h"
#include "metric/typed_rows.h"

static void a_number_has_its_scale_or_its_reason(void **state)
{
	static const struct {
		int error, reason;
	} CASES[] = {{EOPNOTSUPP, ABSENT_NO_SUCH_COUNTER},
		     {EAGAIN, ABSENT_FIRST_SAMPLE},
		     {EINPROGRESS, ABSENT_NOT_YET},
		     {EXDEV, ABSENT_NO_ATTRIBUTION},
		     {EACCES, EACCES},
		     {1, 1},
		     {ABSENT_NOT_COLLECTED - 1, ABSENT_NOT_COLLECTED - 1},
		     {ABSENT_NOT_COLLECTED, EIO},
		     {5000, EIO}};

	(void)state;
	assert_true(gpu_real(gpu_value(0.25), 100) == 25);
	assert_int_equal(gpu_count(gpu_value(2.4), 10), 24);
	assert_int_equal(gpu_count(gpu_value(2.5), 1), 3);
	assert_int_equal(gpu_count(gpu_value(8.9e18), 1), (int64_t)8.9e18);
	assert_int_equal(count_absent(gpu_count(gpu_value(9e18), 1)), EIO);
	assert_int_equal(count_absent(gpu_count(gpu_value(-9e18), 1)), EIO);
	assert_int_equal(count_absent(gpu_count(gpu_value(NAN), 1)), EIO);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_int_equal(real_absent(gpu_real(gpu_absent(CASES[i].error), 1)), CASES[i].reason);
		assert_int_equal(count_absent(gpu_count(gpu_absent(CASES[i].error), 1)), CASES[i].reason);
	}
	/* A survey comes from another process. */
	assert_int_equal(real_absent(gpu_real((struct gpu_number){0, -5}, 1)), EIO);
}

static struct frame frame;
static struct gpu_survey survey;
static struct gpu_device *device;
static struct gpu_row *row;

static int begin(void **state)
{
	(void)state;
	memset(&survey, 0, sizeof survey);
	(void)gpu_survey_add_device(&survey, "acme");
	device = gpu_survey_add_device(&survey, "acme");
	frame_begin(&frame, 0, 0);
	row = ADD_ROW(&frame, gpu, NULL);
	return device && row ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

static void identities_are_texts_or_absent(void **state)
{
	const struct gpu_detail_row *detail;

	(void)state;
	gpu_copy_text(survey.devices[0].uuid, GPU_TEXT_SIZE, "GPU-0");
	gpu_copy_text(device->uuid, GPU_TEXT_SIZE, "MIG-1");
	gpu_copy_text(device->host_id, GPU_WORD_SIZE, "0000:03:00.0");
	device->index = 3;
	device->visible = 1;
	device->parent = 0;
	device->gpu_instance = 0;
	device->compute_instance = -1;
	device->memory_kind = GPU_MEMORY_UNIFIED;
	device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1e9);
	gpu_device_add_detail(device, "driver", "1.2");
	gpu_device_add_detail(device, "bios", "x");
	gpu_fill_identity(&frame, row, &survey, 1);
	assert_string_equal(row->uuid, "MIG-1");
	assert_string_equal(row->vendor, "acme");
	assert_string_equal(row->host_id, "0000:03:00.0");
	assert_int_equal(text_absent(row->name), ABSENT_NO_SUCH_COUNTER);
	assert_int_equal(row->index, 3);
	assert_true(row->visible);
	assert_string_equal(row->mig_parent, "GPU-0");
	assert_int_equal(row->mig_gpu_instance, 0);
	assert_int_equal(count_absent(row->mig_compute_instance), ABSENT_NO_SUCH_COUNTER);
	assert_string_equal(row->memory_kind, "unified");
	assert_int_equal(row->vram_total_bytes, 1000000000);
	assert_int_equal(count_absent(row->core_count), ABSENT_NO_SUCH_COUNTER);
	detail = FIRST(&frame, gpu_detail);
	assert_string_equal(detail->name, "driver");
	assert_string_equal(detail->value, "1.2");
	detail = NEXT(detail, gpu_detail);
	assert_string_equal(detail->name, "bios");
	assert_null(NEXT(detail, gpu_detail));
	device->parent = -1;
	device->visible = 0;
	device->memory_kind = GPU_MEMORY_DEDICATED;
	gpu_fill_identity(&frame, row, &survey, 1);
	assert_int_equal(text_absent(row->mig_parent), ABSENT_NO_SUCH_COUNTER);
	assert_false(row->visible);
	assert_string_equal(row->memory_kind, "dedicated");
	device->memory_kind = GPU_MEMORY_UNKNOWN;
	gpu_fill_identity(&frame, row, &survey, 1);
	assert_int_equal(text_absent(row->memory_kind), ABSENT_NO_SUCH_COUNTER);
}

static void assert_throttled(struct gpu_number reasons, const char *wanted)
{
	struct device_account account = {.attribution = NULL};

	device->readings[GPU_THROTTLE_REASONS] = reasons;
	gpu_fill_readings(&frame, row, device, &account);
	assert_string_equal(row->throttle_reasons, wanted);
}

static void readings_have_words_and_parts(void **state)
{
	struct device_account account = {.utilization_pct = gpu_value(40),
					 .unattributed_vram_bytes = gpu_absent(EXDEV)};

	(void)state;
	device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1000);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_value(250);
	device->tenant_count = 2;
	device->energy_source = GPU_ENERGY_FROM_POWER;
	gpu_fill_readings(&frame, row, device, &account);
	assert_true(row->utilization_pct == 40 && row->vram_used_pct == 25);
	assert_int_equal(row->vram_used_bytes, 250);
	assert_int_equal(row->tenant_count, 2);
	assert_int_equal(count_absent(row->unattributed_vram_bytes), ABSENT_NO_ATTRIBUTION);
	assert_string_equal(row->energy_source, "power");
	assert_int_equal(text_absent(row->throttle_reasons), ABSENT_NO_SUCH_COUNTER);
	/* A device without memory has no part of it. */
	device->readings[GPU_VRAM_TOTAL_BYTES] = device->readings[GPU_VRAM_USED_BYTES] = gpu_value(0);
	gpu_fill_readings(&frame, row, device, &account);
	assert_true(row->vram_used_pct == 0);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_value(250);
	device->readings[GPU_VRAM_TOTAL_BYTES] = gpu_absent(EACCES);
	device->energy_source = GPU_ENERGY_COUNTER;
	device->tenant_count = -1;
	gpu_fill_readings(&frame, row, device, &account);
	assert_int_equal(real_absent(row->vram_used_pct), EACCES);
	assert_string_equal(row->energy_source, "counter");
	assert_int_equal(count_absent(row->tenant_count), ABSENT_NO_SUCH_COUNTER);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_absent(ENODEV);
	device->energy_source = GPU_ENERGY_NONE;
	gpu_fill_readings(&frame, row, device, &account);
	assert_int_equal(real_absent(row->vram_used_pct), ENODEV);
	assert_int_equal(text_absent(row->energy_source), ABSENT_NO_SUCH_COUNTER);
	assert_throttled(gpu_value(0), "none");
	assert_throttled(gpu_value(GPU_THROTTLE_POWER_CAP), "power_cap");
	assert_throttled(gpu_value(GPU_THROTTLE_IDLE | GPU_THROTTLE_DISPLAY_CLOCK), "idle+display_clock");
	assert_throttled(gpu_value((1 << GPU_THROTTLE_BITS) - 1),
			 "idle+clock_setting+power_cap+hardware+sync_boost+thermal_software+thermal_hardware+"
			 "power_brake+"
			 "display_clock");
	assert_throttled(gpu_value(1 << GPU_THROTTLE_BITS), "none");
}

static void the_jobs_part_of_a_device(void **state)
{
	struct device_account account = {.process_count = 2,
					 .used_part = gpu_value(0.5),
					 .vram_bytes = gpu_value(4096),
					 .attribution = "nvml"};

	(void)state;
	gpu_fill_tree_part(row, &account, true);
	assert_int_equal(row->process_count, 2);
	assert_true(row->process_utilization_pct == 50);
	assert_int_equal(row->process_vram_bytes, 4096);
	assert_string_equal(row->attribution, "nvml");
	/* Without the memory, the processes may still be known. */
	account.vram_bytes = gpu_absent(EACCES);
	gpu_fill_tree_part(row, &account, true);
	assert_int_equal(row->process_count, 2);
	assert_int_equal(count_absent(row->process_vram_bytes), EACCES);
	account.vram_bytes = gpu_absent(EXDEV);
	gpu_fill_tree_part(row, &account, true);
	assert_int_equal(count_absent(row->process_count), ABSENT_NO_ATTRIBUTION);
	account.vram_bytes = gpu_absent(EINPROGRESS);
	gpu_fill_tree_part(row, &account, true);
	assert_int_equal(count_absent(row->process_count), ABSENT_NOT_YET);
	gpu_fill_tree_part(row, &account, false);
	assert_int_equal(count_absent(row->process_count), ABSENT_NOT_TRACKED);
	assert_int_equal(count_absent(row->process_vram_bytes), ABSENT_NOT_TRACKED);
	assert_int_equal(real_absent(row->process_utilization_pct), ABSENT_NOT_TRACKED);
	assert_int_equal(text_absent(row->attribution), ABSENT_NOT_TRACKED);
}

static const char *type_of(int64_t kinds)
{
	const struct gpu_process process = {.pid = 9, .kinds = kinds};

	gpu_fill_process(&frame, row, &process, gpu_value(0));
	return ((const struct gpu_process_row *)(const void *)frame.last[ROW_gpu_process])->type;
}

static void a_process_has_a_row_of_its_own(void **state)
{
	const struct gpu_process process = {.pid = 77,
					    .kinds = GPU_PROCESS_COMPUTE,
					    .vram_bytes = gpu_value(5),
					    .memory_utilization_pct = gpu_value(6),
					    .encoder_utilization_pct = gpu_value(7),
					    .decoder_utilization_pct = gpu_absent(EAGAIN)};
	const struct gpu_process_row *added;

	(void)state;
	gpu_fill_process(&frame, row, &process, gpu_value(0.25));
	added = FIRST(&frame, gpu_process);
	assert_string_equal(added->type, "compute");
	assert_int_equal(added->pid, 77);
	assert_true(added->utilization_pct == 25 && added->memory_utilization_pct == 6);
	assert_true(added->encoder_utilization_pct == 7);
	assert_int_equal(real_absent(added->decoder_utilization_pct), ABSENT_FIRST_SAMPLE);
	assert_int_equal(added->vram_bytes, 5);
	assert_string_equal(type_of(GPU_PROCESS_GRAPHICS), "graphics");
	assert_string_equal(type_of(GPU_PROCESS_COMPUTE | GPU_PROCESS_GRAPHICS), "both");
	assert_string_equal(type_of(GPU_PROCESS_COMPUTE | GPU_PROCESS_MPS_CLIENT), "compute");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_has_its_scale_or_its_reason),
		cmocka_unit_test_setup_teardown(identities_are_texts_or_absent, begin, end),
		cmocka_unit_test_setup_teardown(readings_have_words_and_parts, begin, end),
		cmocka_unit_test_setup_teardown(the_jobs_part_of_a_device, begin, end),
		cmocka_unit_test_setup_teardown(a_process_has_a_row_of_its_own, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
