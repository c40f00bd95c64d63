/* Tests of src/gpu/survey.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "gpu/vendor.h"

static struct gpu_survey survey, received;
static char bytes[sizeof(struct gpu_survey)];

static int set_up(void **state)
{
	(void)state;
	memset(&survey, 0, sizeof survey);
	memset(&received, 0x5a, sizeof received);
	for (int i = 0; i < 3; i++) {
		struct gpu_device *device = gpu_survey_add_device(&survey, "NVIDIA");

		snprintf(device->uuid, sizeof device->uuid, "GPU-%d", i);
		gpu_device_add_detail(device, "driver_version", "1.2");
		device->readings[GPU_POWER_WATTS] = gpu_value(100 + i);
		gpu_survey_process(&survey, 0, i, 1000 + i)->vram_bytes = gpu_value(i);
	}
	return 0;
}

static int receive(size_t length)
{
	memcpy(&received, bytes, length);
	return gpu_survey_unpack(&received, length);
}

static void a_survey_arrives_as_it_was_sent(void **state)
{
	size_t length;

	(void)state;
	assert_int_equal(gpu_survey_add_device(&survey, "AMD")->detail_count, 0);
	length = gpu_survey_pack(&survey, bytes);
	assert_true(length < sizeof survey / 10);
	assert_int_equal(receive(length), 0);
	assert_int_equal(received.device_count, 4);
	assert_int_equal(received.process_count, 3);
	assert_memory_equal(received.devices, survey.devices, 4 * sizeof survey.devices[0]);
	assert_memory_equal(received.processes, survey.processes, 3 * sizeof survey.processes[0]);
}

static void a_new_device_has_no_readings(void **state)
{
	(void)state;
	assert_int_equal(survey.devices[0].readings[GPU_FAN_PCT].error, EOPNOTSUPP);
	assert_int_equal(survey.devices[0].readings[GPU_POWER_WATTS].error, 0);
	assert_int_equal(survey.processes[0].busy_secs.error, EOPNOTSUPP);
}

static void a_process_stands_once_on_a_device(void **state)
{
	(void)state;
	assert_ptr_equal(gpu_survey_process(&survey, 0, 1, 1001), &survey.processes[1]);
	assert_ptr_equal(gpu_survey_process(&survey, 0, 2, 1001), &survey.processes[3]);
	assert_null(gpu_survey_find(&survey, 2, 1, 1001));
}

static void entries_without_room_are_counted(void **state)
{
	(void)state;
	for (int i = 3; i < GPU_DEVICES_MAX + 5; i++)
		gpu_survey_add_device(&survey, "NVIDIA");
	assert_int_equal(survey.device_count, GPU_DEVICES_MAX);
	assert_int_equal(survey.left_out_count, 5);
	for (int i = 3; i < GPU_PROCESSES_MAX + 2; i++)
		gpu_survey_process(&survey, (int64_t)survey.process_count, 0, 5000 + i);
	assert_int_equal(survey.process_count, GPU_PROCESSES_MAX);
	assert_int_equal(survey.left_out_count, 7);
	for (int i = 0; i < 2 * GPU_DETAILS_MAX; i++)
		gpu_device_add_detail(&survey.devices[0], "name", "value");
	assert_int_equal(survey.devices[0].detail_count, GPU_DETAILS_MAX);
	assert_int_equal(receive(gpu_survey_pack(&survey, bytes)), 0);
	assert_int_equal(received.processes[GPU_PROCESSES_MAX - 1].pid,
			 survey.processes[GPU_PROCESSES_MAX - 1].pid);
}

static void unpack_refuses_other_bytes(void **state)
{
	size_t length = gpu_survey_pack(&survey, bytes);
	struct gpu_survey *sent = (struct gpu_survey *)(void *)bytes;

	(void)state;
	assert_int_equal(receive(0), -EBADMSG);
	assert_int_equal(receive(length - 1), -EBADMSG);
	assert_int_equal(receive(offsetof(struct gpu_survey, devices) - 8), -EBADMSG);
	sent->device_count = -1;
	assert_int_equal(receive(length), -EBADMSG);
	sent->device_count = GPU_DEVICES_MAX + 1;
	assert_int_equal(receive(length), -EBADMSG);
	sent->device_count = 3;
	sent->process_count = INT64_MAX;
	assert_int_equal(receive(length), -EBADMSG);
	survey.processes[2].device = 3;
	gpu_survey_pack(&survey, bytes);
	assert_int_equal(receive(length), -EBADMSG);
}

static void texts_of_a_crashed_library_are_cut(void **state)
{
	size_t length;

	(void)state;
	memset(survey.devices[1].uuid, 'x', sizeof survey.devices[1].uuid);
	memset(survey.devices[1].details, 'y', sizeof survey.devices[1].details);
	survey.devices[1].detail_count = 99;
	survey.devices[2].parent = 77;
	memset(survey.problem, 'z', sizeof survey.problem);
	length = gpu_survey_pack(&survey, bytes);
	assert_int_equal(receive(length), 0);
	assert_int_equal(strlen(received.devices[1].uuid), sizeof received.devices[1].uuid - 1);
	assert_int_equal(received.devices[1].detail_count, 0);
	assert_int_equal(received.devices[2].parent, -1);
	assert_int_equal(strlen(received.problem), sizeof received.problem - 1);
}

static void a_survey_of_nothing_is_its_head(void **state)
{
	size_t length;

	(void)state;
	survey.device_count = survey.process_count = 0;
	length = gpu_survey_pack(&survey, bytes);
	assert_int_equal(length, offsetof(struct gpu_survey, devices));
	assert_int_equal(receive(length), 0);
	assert_int_equal(received.device_count, 0);
	/* As many as there is room for. */
	survey.device_count = GPU_DEVICES_MAX;
	survey.process_count = GPU_PROCESSES_MAX;
	for (int i = 0; i < GPU_DEVICES_MAX; i++)
		survey.devices[i].parent = i - 1;
	for (int i = 0; i < GPU_PROCESSES_MAX; i++)
		survey.processes[i].device = i % GPU_DEVICES_MAX;
	length = gpu_survey_pack(&survey, bytes);
	assert_int_equal(length, sizeof survey);
	assert_int_equal(receive(length), 0);
	assert_int_equal(received.devices[GPU_DEVICES_MAX - 1].parent, GPU_DEVICES_MAX - 2);
	assert_int_equal(received.devices[0].parent, -1);
	assert_int_equal(received.devices[1].parent, 0);
	memset(survey.devices[3].details, 'y', sizeof survey.devices[3].details);
	survey.devices[1].parent = -2;
	survey.devices[2].parent = GPU_DEVICES_MAX;
	survey.devices[3].detail_count = GPU_DETAILS_MAX;
	survey.devices[4].detail_count = -1;
	survey.devices[5].detail_count = GPU_DETAILS_MAX + 1;
	assert_int_equal(receive(gpu_survey_pack(&survey, bytes)), 0);
	assert_int_equal(received.devices[1].parent, -1);
	assert_int_equal(received.devices[2].parent, -1);
	assert_int_equal(received.devices[3].detail_count, GPU_DETAILS_MAX);
	for (int i = 0; i < GPU_DETAILS_MAX; i++) {
		assert_int_equal(strlen(received.devices[3].details[i].name), GPU_WORD_SIZE - 1);
		assert_int_equal(strlen(received.devices[3].details[i].value), GPU_DETAIL_SIZE - 1);
	}
	assert_int_equal(received.devices[4].detail_count, 0);
	assert_int_equal(received.devices[5].detail_count, 0);
	survey.processes[9].device = -1;
	assert_int_equal(receive(gpu_survey_pack(&survey, bytes)), -EBADMSG);
	survey.processes[9].device = 0;
	survey.process_count = GPU_PROCESSES_MAX + 1;
	memcpy(&received, &survey, sizeof survey);
	assert_int_equal(gpu_survey_unpack(&received, length), -EBADMSG);
}

static void texts_are_cut_to_their_room(void **state)
{
	char room[4] = "xyz";

	(void)state;
	gpu_copy_text(room, sizeof room, "ab");
	assert_string_equal(room, "ab");
	gpu_copy_text(room, sizeof room, "abc");
	assert_string_equal(room, "abc");
	gpu_copy_text(room, sizeof room, "abcdef");
	assert_string_equal(room, "abc");
}

static void a_new_device_is_whole_and_visible(void **state)
{
	const struct gpu_device *device = gpu_survey_add_device(&survey, "AMD");

	(void)state;
	assert_int_equal(device->index, 3);
	assert_int_equal(device->visible, 1);
	assert_int_equal(device->parent, -1);
	assert_int_equal(device->file_number, -1);
	assert_int_equal(device->card_number, -1);
	assert_int_equal(device->gpu_instance, -1);
	assert_int_equal(device->compute_instance, -1);
	assert_int_equal(device->tenant_count, -1);
	assert_int_equal(device->holder_count, -1);
	assert_true(device->readings[GPU_SHARE].value == 1 && !device->readings[GPU_SHARE].error);
	assert_string_equal(device->device_type, "GPU");
	assert_int_equal(device->readings[GPU_READINGS - 1].error, EOPNOTSUPP);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_survey_arrives_as_it_was_sent, set_up),
		cmocka_unit_test_setup(a_new_device_has_no_readings, set_up),
		cmocka_unit_test_setup(a_process_stands_once_on_a_device, set_up),
		cmocka_unit_test_setup(entries_without_room_are_counted, set_up),
		cmocka_unit_test_setup(unpack_refuses_other_bytes, set_up),
		cmocka_unit_test_setup(texts_of_a_crashed_library_are_cut, set_up),
		cmocka_unit_test_setup(a_survey_of_nothing_is_its_head, set_up),
		cmocka_unit_test_setup(texts_are_cut_to_their_room, set_up),
		cmocka_unit_test_setup(a_new_device_is_whole_and_visible, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
