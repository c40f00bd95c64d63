/* Tests of src/gpu/visible.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "gpu/vendor.h"
#include "gpu/visible.h"

static struct gpu_survey survey;

static struct gpu_device *add(const char *vendor, const char *name, const char *uuid, int64_t index)
{
	struct gpu_device *device = gpu_survey_add_device(&survey, vendor);

	snprintf(device->name, sizeof device->name, "%s", name);
	snprintf(device->uuid, sizeof device->uuid, "%s", uuid);
	device->index = index;
	return device;
}

/*
 * NVML counts eight GPUs, and the cgroup allows 2, 3 and 6; 3 is divided; there is one GPU of AMD and one of
 * Intel.
 */
static int set_up(void **state)
{
	(void)state;
	memset(&survey, 0, sizeof survey);
	add("NVIDIA", "X", "GPU-aaaa-0", 2);
	add("NVIDIA", "X", "GPU-bbbb-1", 3);
	add("NVIDIA", "X MIG", "MIG-cccc-2", 3)->parent = 1;
	add("NVIDIA", "X", "GPU-bbcc-3", 6);
	add("AMD", "Y", "GPU-dddd-4", 0);
	add("Intel", "Z", "xe-0000:03:00.0", 0);
	return 0;
}

/* Compares the visible devices with `wanted`, one character for each. */
static void expect(const char *environment, size_t length, const char *wanted)
{
	char found[8] = "";

	gpu_mark_visible(&survey, environment, length);
	for (int64_t i = 0; i < survey.device_count; i++)
		found[i] = survey.devices[i].visible ? '1' : '0';
	assert_string_equal(found, wanted);
}
#define EXPECT(environment, wanted) expect(environment "\0", sizeof(environment), wanted)

static void nothing_said_hides_nothing(void **state)
{
	(void)state;
	EXPECT("", "111111");
	EXPECT("PATH=/bin\0XCUDA_VISIBLE_DEVICES=7\0CUDA_VISIBLE_DEVICE=7", "111111");
}

static void cuda_counts_the_devices_that_may_be_opened(void **state)
{
	(void)state;
	EXPECT("A=1\0CUDA_VISIBLE_DEVICES=0", "100011");
	EXPECT("CUDA_VISIBLE_DEVICES=1,2", "011111");
	EXPECT("CUDA_VISIBLE_DEVICES= 2 , 0", "100111");
}

static void lists_end_at_the_first_unknown_device(void **state)
{
	(void)state;
	EXPECT("CUDA_VISIBLE_DEVICES=0,-1,1", "100011");
	EXPECT("CUDA_VISIBLE_DEVICES=-1", "000011");
	EXPECT("CUDA_VISIBLE_DEVICES=", "000011");
	EXPECT("CUDA_VISIBLE_DEVICES=NoDevFiles", "000011");
	EXPECT("CUDA_VISIBLE_DEVICES=99", "000011");
}

static void devices_and_instances_are_named_by_uuid(void **state)
{
	(void)state;
	EXPECT("CUDA_VISIBLE_DEVICES=GPU-bbbb", "011011");
	EXPECT("CUDA_VISIBLE_DEVICES=gpu-aaaa-0,GPU-bbcc", "100111");
	EXPECT("CUDA_VISIBLE_DEVICES=MIG-cccc-2", "001011");
}

static void numbers_of_unlike_devices_say_nothing_without_an_order(void **state)
{
	(void)state;
	snprintf(survey.devices[3].name, sizeof survey.devices[3].name, "slower");
	EXPECT("CUDA_VISIBLE_DEVICES=0", "111111");
	EXPECT("CUDA_VISIBLE_DEVICES=0\0CUDA_DEVICE_ORDER=PCI_BUS_ID", "100011");
	EXPECT("CUDA_VISIBLE_DEVICES=GPU-bbcc", "000111");
}

static void slurm_counts_all_of_the_machine(void **state)
{
	(void)state;
	EXPECT("SLURM_JOB_GPUS=2,6", "100111");
	EXPECT("SLURM_JOB_GPUS=2-3", "111011");
	EXPECT("SLURM_JOB_GPUS=2,6\0SLURM_STEP_GPUS=6", "000111");
	EXPECT("SLURM_JOB_GPUS=2,6\0CUDA_VISIBLE_DEVICES=1", "011011");
}

/* If Slurm's control group allows some devices only, NVML counts only those. */
static void slurm_has_the_numbers_of_the_files(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		survey.devices[i].file_number = survey.devices[i].index;
		survey.devices[i].index = i < 2 ? i : i - 1;
	}
	EXPECT("SLURM_JOB_GPUS=2,6", "100111");
	EXPECT("SLURM_JOB_GPUS=3", "011011");
	/* The named device is absent, so every device here is the job's. */
	EXPECT("SLURM_JOB_GPUS=0,1", "111111");
	EXPECT("SLURM_JOB_GPUS=", "111111");
}

static void other_vendors_have_their_own(void **state)
{
	(void)state;
	EXPECT("ROCR_VISIBLE_DEVICES=1", "111101");
	EXPECT("HIP_VISIBLE_DEVICES=0", "111111");
	EXPECT("ROCR_VISIBLE_DEVICES=GPU-dddd", "111111");
	EXPECT("ZE_AFFINITY_MASK=0.1", "111111");
	EXPECT("ZE_AFFINITY_MASK=1", "111110");
	EXPECT("ZE_AFFINITY_MASK=", "111111");
}

/* The first device is divided: its instances take no number, and their model is not that of a device. */
static void instances_of_the_first_device_are_its_own(void **state)
{
	(void)state;
	memset(&survey, 0, sizeof survey);
	add("NVIDIA", "X", "GPU-aaaa-0", 0);
	add("NVIDIA", "X MIG 1g", "MIG-bbbb-1", 0)->parent = 0;
	add("NVIDIA", "X MIG 2g", "MIG-cccc-2", 0)->parent = 0;
	add("NVIDIA", "X", "GPU-dddd-3", 1);
	add("NVIDIA", "X", "GPU-eeee-4", 2);
	EXPECT("CUDA_VISIBLE_DEVICES=0", "11100");
	EXPECT("CUDA_VISIBLE_DEVICES=1", "00010");
	EXPECT("CUDA_VISIBLE_DEVICES=2", "00001");
	EXPECT("CUDA_VISIBLE_DEVICES=MIG-cccc", "00100");
	EXPECT("CUDA_VISIBLE_DEVICES=GPU-aaaa", "11100");
	/* Slurm's ranges, whose ends count, and words that are none. */
	EXPECT("SLURM_JOB_GPUS=1-2", "00011");
	EXPECT("SLURM_JOB_GPUS=0-1", "11110");
	EXPECT("SLURM_JOB_GPUS=1-2x", "11111");
	EXPECT("SLURM_JOB_GPUS=1:2", "11111");
	EXPECT("ROCR_VISIBLE_DEVICES=0", "11111");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_said_hides_nothing, set_up),
		cmocka_unit_test_setup(cuda_counts_the_devices_that_may_be_opened, set_up),
		cmocka_unit_test_setup(lists_end_at_the_first_unknown_device, set_up),
		cmocka_unit_test_setup(devices_and_instances_are_named_by_uuid, set_up),
		cmocka_unit_test_setup(numbers_of_unlike_devices_say_nothing_without_an_order, set_up),
		cmocka_unit_test_setup(slurm_counts_all_of_the_machine, set_up),
		cmocka_unit_test_setup(slurm_has_the_numbers_of_the_files, set_up),
		cmocka_unit_test_setup(other_vendors_have_their_own, set_up),
		cmocka_unit_test_setup(instances_of_the_first_device_are_its_own, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
