/* src/gpu/nvidia_processes.c with answers that the test gives itself: lists that grow, samples at exact times, and numbers that cannot be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "gpu/nvidia_processes.h"

enum { NOW_US = 1000000000, SECOND_US = 1000000 };

static struct nvml nvml;
static struct nvidia_device nvidia;
static struct nvidia_records records;
static struct gpu_survey survey;

/* ---- lists ----------------------------------------------------------------------------------------- */

/* The list of computing processes: one answer a call, and the room that each call offered. */
static struct list_answer {
	int result;
	unsigned count;
	bool writes_nothing;
} list_answers[4];
static unsigned list_calls, rooms[4];
static struct nvml_process_v2 computing[2], drawing[2];
static unsigned drawing_count;

static int list_computing(nvml_device device, unsigned *count, void *ret_records)
{
	const struct list_answer *answer = &list_answers[list_calls];

	(void)device;
	assert_true(list_calls < 4);
	rooms[list_calls++] = *count;
	*count = answer->count;
	if (answer->result == NVML_SUCCESS && !answer->writes_nothing)
		memcpy(ret_records, computing, answer->count * sizeof computing[0]);
	return answer->result;
}

static int list_drawing(nvml_device device, unsigned *count, void *ret_records)
{
	(void)device;
	*count = drawing_count;
	memcpy(ret_records, drawing, drawing_count * sizeof drawing[0]);
	return NVML_SUCCESS;
}

/* ---- samples --------------------------------------------------------------------------------------- */

static struct nvml_process_utilization_v1 samples[8];
static unsigned sample_count, counted, sample_room;
static int count_result, sample_result;
static unsigned long long asked_since;

static int old_call(nvml_device device, struct nvml_process_utilization_v1 *ret_samples, unsigned *count,
		    unsigned long long last_seen_us)
{
	(void)device;
	asked_since = last_seen_us;
	if (!ret_samples) {
		assert_int_equal(*count, 0);
		*count = counted;
		return count_result;
	}
	sample_room = *count;
	*count = sample_count;
	memcpy(ret_samples, samples, sizeof samples);
	return sample_result;
}

static struct new_answer {
	int result;
	unsigned count;
} new_answers[4];
static unsigned new_calls, new_rooms[4];

static int new_call(nvml_device device, struct nvml_processes_utilization *request)
{
	const struct new_answer *answer = &new_answers[new_calls];

	(void)device;
	assert_true(new_calls < 4);
	new_rooms[new_calls++] = request->count;
	request->count = answer->count;
	for (unsigned i = 0; answer->result == NVML_SUCCESS && i < answer->count && i < 8; i++)
		request->samples[i] =
			(struct nvml_process_utilization_v2){.at_us = samples[i].at_us,
							     .pid = samples[i].pid,
							     .sm_pct = samples[i].sm_pct,
							     .memory_pct = samples[i].memory_pct,
							     .encoder_pct = samples[i].encoder_pct,
							     .decoder_pct = samples[i].decoder_pct};
	return answer->result;
}

/* ---- a device with process 7, which computes and holds 100 bytes ----------------------------------- */

static int begin(void **state)
{
	(void)state;
	nvml = (struct nvml){.processes = {list_computing, list_drawing}, .process_utilization = old_call};
	nvidia = (struct nvidia_device){0};
	records = (struct nvidia_records){0};
	memset(&survey, 0, sizeof survey);
	gpu_survey_add_device(&survey, "NVIDIA")->readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1000);
	for (int i = 0; i < 4; i++)
		list_answers[i] = (struct list_answer){NVML_SUCCESS, 1, false};
	computing[0] = (struct nvml_process_v2){7, 100, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
	computing[1] = (struct nvml_process_v2){8, 200, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
	drawing_count = 0;
	list_calls = new_calls = sample_count = counted = 0;
	count_result = NVML_INSUFFICIENT_SIZE;
	sample_result = NVML_SUCCESS;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(nvidia.held);
	nvidia_records_done(&records);
	return 0;
}

static const struct gpu_process *pass_at(int64_t realtime_us)
{
	survey.process_count = 0;
	list_calls = 0;
	new_calls = 0;
	nvidia_read_processes(&nvml, &nvidia, &survey, 0, realtime_us, &records);
	return survey.process_count ? &survey.processes[0] : NULL;
}

static const struct gpu_process *pass(void)
{
	return pass_at(NOW_US);
}

static void try_lists(int64_t tenants, enum gpu_pids pids)
{
	(void)pass();
	assert_int_equal(survey.devices[0].tenant_count, tenants);
	assert_int_equal(survey.devices[0].pids, pids);
}

static void a_longer_list_gets_room_for_some_more(void **state)
{
	(void)state;
	list_answers[0] = (struct list_answer){NVML_INSUFFICIENT_SIZE, 100, false};
	try_lists(1, GPU_PIDS_OURS);
	assert_int_equal(list_calls, 2);
	assert_int_equal(rooms[0], 64);
	assert_int_equal(rooms[1], 116);
	/* The room stays, and a driver that names no more than there is gets twice as much. */
	list_answers[0].count = 116;
	try_lists(1, GPU_PIDS_OURS);
	assert_int_equal(rooms[0], 116);
	assert_int_equal(rooms[1], 232);
	list_answers[0].count = 65536 - 16;
	try_lists(1, GPU_PIDS_OURS);
	assert_int_equal(rooms[1], 65536);
}

static void a_list_that_never_fits_is_unknown(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		list_answers[i].result = NVML_INSUFFICIENT_SIZE;
	try_lists(-1, GPU_PIDS_UNKNOWN);
	assert_int_equal(list_calls, 3);
	list_answers[0].count = 65536 - 15;
	try_lists(-1, GPU_PIDS_UNKNOWN);
	assert_int_equal(list_calls, 1);
	/* More than there was room for. */
	list_answers[0] = (struct list_answer){NVML_SUCCESS, 70000, true};
	try_lists(-1, GPU_PIDS_UNKNOWN);
}

static void lists_that_a_device_lacks_say_nothing_of_the_others(void **state)
{
	static const struct {
		int result;
		int64_t tenants;
	} CASES[] = {{NVML_NOT_SUPPORTED, 0},    {NVML_FUNCTION_NOT_FOUND, 0}, {NVML_NOT_FOUND, 0},
		     {NVML_INVALID_ARGUMENT, 0}, {NVML_NO_PERMISSION, -1},     {NVML_TIMEOUT, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		list_answers[0] = (struct list_answer){CASES[i].result, 0, false};
		try_lists(CASES[i].tenants, CASES[i].tenants < 0 ? GPU_PIDS_UNKNOWN : GPU_PIDS_OURS);
	}
	nvml.processes[0] = NULL;
	try_lists(0, GPU_PIDS_OURS);
	nvml.processes[1] = NULL;
	try_lists(-1, GPU_PIDS_UNKNOWN);
}

static void records_of_no_known_size_are_left_out(void **state)
{
	(void)state;
	drawing_count = 1;
	drawing[0] = (struct nvml_process_v2){9, 10, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
	list_answers[0] = (struct list_answer){NVML_SUCCESS, 1, true};
	try_lists(-1, GPU_PIDS_UNKNOWN);
	assert_int_equal(survey.process_count, 1);
	list_answers[0] = (struct list_answer){NVML_SUCCESS, 0, true};
	try_lists(1, GPU_PIDS_OURS);
	list_answers[0] = (struct list_answer){NVML_SUCCESS, 2, false};
	try_lists(3, GPU_PIDS_OURS);
}

static void divided_devices_have_no_processes_of_their_own(void **state)
{
	(void)state;
	nvidia.is_divided = true;
	try_lists(-1, GPU_PIDS_UNKNOWN);
	assert_int_equal(list_calls, 0);
}

static void try_memory(uint64_t used, int64_t error, double bytes)
{
	const struct gpu_process *process;

	computing[0].used_bytes = used;
	process = pass();
	assert_int_equal(process->vram_bytes.error, error);
	assert_true(process->vram_bytes.value == bytes);
}

static void memory_is_at_most_that_of_the_device(void **state)
{
	struct gpu_number *total = &survey.devices[0].readings[GPU_VRAM_TOTAL_BYTES];

	(void)state;
	try_memory(1000, 0, 1000);
	try_memory(1001, EIO, 0);
	try_memory(UINT64_MAX, EOPNOTSUPP, 0);
	*total = gpu_value(1e12);
	try_memory(UINT32_MAX, EOPNOTSUPP, 0);
	try_memory(UINT32_MAX - 1, 0, UINT32_MAX - 1);
	*total = gpu_value(0);
	try_memory(1001, 0, 1001);
	*total = gpu_absent(EOPNOTSUPP);
	try_memory(1001, 0, 1001);
	try_memory(INT64_MAX, 0, (double)INT64_MAX);
	try_memory((uint64_t)INT64_MAX + 1, EIO, 0);
	/* The list with more of it is right, and an impossible one takes nothing away. */
	*total = gpu_value(1000);
	drawing_count = 1;
	drawing[0] = (struct nvml_process_v2){7, 300, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
	try_memory(200, 0, 300);
	try_memory(400, 0, 400);
	drawing[0].used_bytes = 1001;
	try_memory(400, 0, 400);
	drawing[0].used_bytes = 300;
	try_memory(1001, 0, 300);
}

/* ---- utilisation ----------------------------------------------------------------------------------- */

static void add_use(int64_t after_now_us, unsigned sm, unsigned memory, unsigned encoder, unsigned decoder)
{
	samples[sample_count++] = (struct nvml_process_utilization_v1){
		7, (uint64_t)(NOW_US + after_now_us), sm, memory, encoder, decoder};
	counted = sample_count;
}

#define assert_use(process, sm, memory, encoder, decoder) \
	do { \
		assert_true((process)->utilization_pct.value == (sm) && \
			    (process)->memory_utilization_pct.value == (memory)); \
		assert_true((process)->encoder_utilization_pct.value == (encoder) && \
			    (process)->decoder_utilization_pct.value == (decoder)); \
	} while (0)

static void use_is_the_mean_of_the_samples(void **state)
{
	const struct gpu_process *process;

	(void)state;
	add_use(-100, 10, 20, 30, 40);
	add_use(-50, 20, 40, 50, 80);
	add_use(-10, 30, 60, 10, 0);
	process = pass();
	assert_use(process, 20, 40, 30, 40);
	assert_int_equal(sample_room, 3 + 16);
	assert_int_equal(asked_since, NOW_US - SECOND_US);
	assert_int_equal(nvidia.last_seen_us, NOW_US - 10);
}

/* From the last sample, which does not count again, to a second after now. */
static void samples_of_another_time_are_left_out(void **state)
{
	const struct gpu_process *process;

	(void)state;
	add_use(-SECOND_US, 90, 90, 90, 90);
	add_use(-SECOND_US + 1, 10, 10, 10, 10);
	add_use(SECOND_US, 20, 20, 20, 20);
	add_use(SECOND_US + 1, 80, 80, 80, 80);
	samples[4] = samples[1];
	samples[4].pid = 99; /* has exited */
	samples[4].sm_pct = 99;
	counted = sample_count = 5;
	process = pass();
	assert_use(process, 15, 15, 15, 15);
	assert_int_equal(nvidia.last_seen_us, NOW_US + SECOND_US);
	assert_int_equal(survey.process_count, 1);
}

static void percentages_above_100_are_unknown(void **state)
{
	const struct gpu_process *process;

	(void)state;
	add_use(-30, 100, 100, 100, 100);
	process = pass();
	assert_use(process, 100, 100, 100, 100);
	add_use(-20, 101, 0, 0, 0);
	add_use(-19, 0, 101, 0, 0);
	process = pass_at(NOW_US + 1);
	/* Beside them, the last use holds. */
	assert_use(process, 100, 100, 100, 100);
	add_use(-10, 40, 20, 101, 0);
	add_use(-9, 60, 20, 0, 101);
	add_use(-8, 50, 20, 5, 5);
	process = pass_at(NOW_US + 2);
	assert_true(process->utilization_pct.value == 50 && process->memory_utilization_pct.value == 20);
	assert_int_equal(process->encoder_utilization_pct.error, EIO);
	assert_int_equal(process->decoder_utilization_pct.error, EIO);
}

static void a_process_without_a_sample_is_idle(void **state)
{
	const struct gpu_process *process;

	(void)state;
	process = pass();
	assert_use(process, 0, 0, 0, 0);
	assert_int_equal(process->utilization_pct.error, 0);
	assert_int_equal(nvidia.last_seen_us, NOW_US - SECOND_US);
	assert_false(nvidia.has_samples);
	sample_result = NVML_NOT_FOUND;
	process = pass();
	assert_int_equal(process->utilization_pct.error, 0);
	/* The only sample cannot be. */
	sample_result = NVML_SUCCESS;
	add_use(-10, 101, 0, 0, 0);
	process = pass();
	assert_int_equal(process->utilization_pct.error, EIO);
	assert_int_equal(process->decoder_utilization_pct.error, EIO);
}

/* The driver samples each 200 us: until 300 after its last sample, the use of a process holds. */
static void use_holds_for_one_and_a_half_periods(void **state)
{
	const struct gpu_process *process;

	(void)state;
	add_use(0, 30, 30, 30, 30);
	(void)pass();
	assert_true(nvidia.has_samples);
	add_use(500, 50, 50, 50, 50);
	(void)pass_at(NOW_US + 500);
	add_use(700, 70, 60, 50, 40);
	(void)pass_at(NOW_US + 700);
	/* A longer time between two samples is not the period. */
	add_use(1100, 80, 60, 50, 40);
	add_use(1101, 60, 60, 50, 40);
	(void)pass_at(NOW_US + 1101);
	process = pass_at(NOW_US + 1101 + 300);
	assert_use(process, 70, 60, 50, 40);
	process = pass_at(NOW_US + 1101 + 301);
	assert_use(process, 0, 0, 0, 0);
	/* A process that has gone is forgotten. */
	add_use(1500, 50, 50, 50, 50);
	(void)pass_at(NOW_US + 1500);
	list_answers[0].count = 0;
	(void)pass_at(NOW_US + 1501);
	list_answers[0].count = 1;
	process = pass_at(NOW_US + 1502);
	assert_use(process, 0, 0, 0, 0);
}

static void without_a_period_use_holds_for_one_and_a_half_seconds(void **state)
{
	const struct gpu_process *process;

	(void)state;
	add_use(0, 30, 30, 30, 30);
	(void)pass();
	process = pass_at(NOW_US + 3 * SECOND_US / 2);
	assert_use(process, 30, 30, 30, 30);
	process = pass_at(NOW_US + 3 * SECOND_US / 2 + 1);
	assert_use(process, 0, 0, 0, 0);
}

static void a_clock_that_was_set_back_begins_with_the_last_second(void **state)
{
	(void)state;
	add_use(0, 30, 30, 30, 30);
	(void)pass();
	assert_true(nvidia.has_samples);
	/* A second before the last sample is near enough. */
	(void)pass_at(NOW_US - SECOND_US);
	assert_int_equal(asked_since, NOW_US);
	(void)pass_at(NOW_US - SECOND_US - 1);
	assert_int_equal(asked_since, NOW_US - 2 * SECOND_US - 1);
}

static void samples_that_fail_are_unknown_with_their_reason(void **state)
{
	const struct gpu_process *process;

	(void)state;
	count_result = NVML_NO_PERMISSION;
	process = pass();
	assert_int_equal(process->utilization_pct.error, EACCES);
	assert_int_equal(process->memory_utilization_pct.error, EACCES);
	assert_int_equal(process->encoder_utilization_pct.error, EACCES);
	count_result = NVML_SUCCESS;
	sample_result = NVML_TIMEOUT;
	process = pass();
	assert_int_equal(process->utilization_pct.error, nvml_errno(NVML_TIMEOUT));
	/* More samples than there was room for, which is that of the longest list. */
	sample_result = NVML_SUCCESS;
	sample_count = 128;
	memset(samples, 0, sizeof samples);
	process = pass();
	assert_int_equal(process->utilization_pct.error, 0);
	sample_count = 129;
	process = pass();
	assert_int_equal(process->utilization_pct.error, EPROTO);
	counted = 65536 - 15;
	process = pass();
	assert_int_equal(process->utilization_pct.error, ENOBUFS);
	/* An instance has no samples. */
	nvidia.is_instance = true;
	process = pass();
	assert_int_equal(process->utilization_pct.error, EOPNOTSUPP);
}

static void the_newer_call_is_asked_where_the_older_one_is_unsupported(void **state)
{
	const struct gpu_process *process;

	(void)state;
	count_result = NVML_NOT_SUPPORTED;
	process = pass();
	assert_int_equal(process->utilization_pct.error, EOPNOTSUPP);
	nvml.processes_utilization = new_call;
	add_use(-100, 10, 20, 30, 40);
	new_answers[0] = (struct new_answer){NVML_SUCCESS, 1};
	process = pass();
	assert_use(process, 10, 20, 30, 40);
	assert_int_equal(new_rooms[0], 64);
	nvml.process_utilization = NULL;
	add_use(-50, 30, 20, 30, 40);
	new_answers[0] = (struct new_answer){NVML_INSUFFICIENT_SIZE, 100};
	new_answers[1] = (struct new_answer){NVML_INSUFFICIENT_SIZE, 116};
	new_answers[2] = (struct new_answer){NVML_SUCCESS, 2};
	process = pass_at(NOW_US + 1);
	assert_use(process, 30, 20, 30, 40);
	assert_int_equal(new_rooms[1], 116);
	assert_int_equal(new_rooms[2], 232);
	new_answers[2] = (struct new_answer){NVML_INSUFFICIENT_SIZE, 300};
	process = pass_at(NOW_US + 2);
	assert_int_equal(process->utilization_pct.error, EAGAIN);
	assert_int_equal(new_calls, 3);
	new_answers[0] = (struct new_answer){NVML_SUCCESS, 65};
	process = pass_at(NOW_US + 3);
	assert_int_equal(process->utilization_pct.error, EPROTO);
	new_answers[0] = (struct new_answer){NVML_INSUFFICIENT_SIZE, 65536 - 15};
	process = pass_at(NOW_US + 4);
	assert_int_equal(process->utilization_pct.error, ENOBUFS);
	assert_int_equal(new_calls, 1);
	new_answers[0] = (struct new_answer){NVML_NO_PERMISSION, 0};
	process = pass_at(NOW_US + 5);
	assert_int_equal(process->utilization_pct.error, EACCES);
}

#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_longer_list_gets_room_for_some_more),
		DEVICE_TEST(a_list_that_never_fits_is_unknown),
		DEVICE_TEST(lists_that_a_device_lacks_say_nothing_of_the_others),
		DEVICE_TEST(records_of_no_known_size_are_left_out),
		DEVICE_TEST(divided_devices_have_no_processes_of_their_own),
		DEVICE_TEST(memory_is_at_most_that_of_the_device),
		DEVICE_TEST(use_is_the_mean_of_the_samples),
		DEVICE_TEST(samples_of_another_time_are_left_out),
		DEVICE_TEST(percentages_above_100_are_unknown),
		DEVICE_TEST(a_process_without_a_sample_is_idle),
		DEVICE_TEST(use_holds_for_one_and_a_half_periods),
		DEVICE_TEST(without_a_period_use_holds_for_one_and_a_half_seconds),
		DEVICE_TEST(a_clock_that_was_set_back_begins_with_the_last_second),
		DEVICE_TEST(samples_that_fail_are_unknown_with_their_reason),
		DEVICE_TEST(the_newer_call_is_asked_where_the_older_one_is_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
