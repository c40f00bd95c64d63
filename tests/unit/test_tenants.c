/* Tests of src/gpu/tenants.c: whether the process ids that a driver lists are those of this /proc. */
#include "scratch.h"

#include <errno.h>

#include "gpu/tenants.h"

static struct root root;
static struct gpu_survey survey;
static struct gpu_device *device;
static struct file_holder holders[2];
static struct member_files files;
static const pid_t MEMBERS[] = {100, 101};

/* A device of NVIDIA with one process, 7, which member 100 may be in its container. */
static int begin(void **state)
{
	memset(&survey, 0, sizeof survey);
	memset(holders, 0, sizeof holders);
	(void)gpu_survey_add_device(&survey, "AMD");
	device = gpu_survey_add_device(&survey, "nVidia");
	device->file_number = 0;
	device->pids = GPU_PIDS_OURS;
	device->tenant_count = 1;
	survey.processes[0] = (struct gpu_process){.device = 1, .pid = 7};
	survey.process_count = 1;
	files = (struct member_files){.holders = holders, .count = 2};
	if (scratch_enter(state) < 0)
		return -1;
	put_below("proc/100/status", "Name:\tjob\nPid:\t100\nNSpid:\t100\t7\n");
	put_below("proc/101/status", "Name:\tjob\nPid:\t101\nNSpid:\t101\t8\n");
	return root_open(&root, ".", NULL);
}

static int end(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

static void judge_them(bool first_namespace)
{
	gpu_judge_tenants(&survey, &root, MEMBERS, 2, &files, first_namespace);
}

static void hold(int member, int kind, int number)
{
	struct file_holder *holder = &holders[member];

	holder->files[holder->count++] = (struct gpu_file){.fd = 3, .kind = kind, .number = number};
}

static void only_ids_of_nvidia_may_be_those_of_others(void **state)
{
	static const struct {
		enum gpu_pids pids;
		bool first_namespace, in_doubt;
	} CASES[] = {{GPU_PIDS_OURS, true, false},   {GPU_PIDS_OURS, false, true},
		     {GPU_PIDS_UNKNOWN, true, true}, {GPU_PIDS_FOREIGN, true, true},
		     {GPU_PIDS_MAPPED, true, false}, {GPU_PIDS_NOT_ASKED, true, false}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		device->pids = CASES[i].pids;
		assert_int_equal(gpu_tenants_in_doubt(&survey, CASES[i].first_namespace), CASES[i].in_doubt);
	}
	device->pids = GPU_PIDS_UNKNOWN;
	device->file_number = -1;
	assert_false(gpu_tenants_in_doubt(&survey, false));
	device->file_number = 0;
	strcpy(device->vendor, "Intel");
	assert_false(gpu_tenants_in_doubt(&survey, false));
}

static void the_first_namespace_has_a_known_number(void **state)
{
	(void)state;
	assert_true(in_first_pid_namespace(&root));
	mkdir("proc/self", 0755);
	mkdir("proc/self/ns", 0755);
	assert_int_equal(symlink("pid:[4026531836]", "proc/self/ns/pid"), 0);
	assert_true(in_first_pid_namespace(&root));
	unlink("proc/self/ns/pid");
	assert_int_equal(symlink("pid:[4026531837]", "proc/self/ns/pid"), 0);
	assert_false(in_first_pid_namespace(&root));
}

static void an_id_of_one_member_becomes_its_own(void **state)
{
	(void)state;
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_MAPPED);
	assert_int_equal(survey.processes[0].pid, 100);
	assert_int_equal(device->holder_count, 0);
}

static void an_id_that_exists_stays(void **state)
{
	(void)state;
	survey.processes[0].pid = 101;
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_OURS);
	assert_int_equal(survey.processes[0].pid, 101);
}

/* In the first namespace nothing is in doubt. */
static void where_all_is_seen_nothing_is_mapped(void **state)
{
	(void)state;
	device->holder_count = 55;
	judge_them(true);
	assert_int_equal(device->pids, GPU_PIDS_OURS);
	assert_int_equal(survey.processes[0].pid, 7);
	assert_int_equal(device->holder_count, 55);
}

static void an_id_of_two_members_or_of_none_is_foreign(void **state)
{
	(void)state;
	put_text("proc/101/status", "Name:\tjob\nPid:\t101\nNSpid:\t101\t7\n");
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_FOREIGN);
	assert_int_equal(survey.processes[0].pid, 7);
	/* The first number is that of this /proc, so it is none of an inner namespace. */
	device->pids = GPU_PIDS_OURS;
	put_text("proc/100/status", "Name:\tjob\nPid:\t100\nNSpid:\t7\n");
	unlink("proc/101/status");
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_FOREIGN);
}

static void processes_of_other_devices_are_left_alone(void **state)
{
	(void)state;
	survey.processes[0].device = 0;
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_OURS);
	assert_int_equal(survey.processes[0].pid, 7);
	survey.processes[1] = (struct gpu_process){.device = 1, .pid = 8};
	survey.process_count = 2;
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_MAPPED);
	assert_int_equal(survey.processes[0].pid, 7);
	assert_int_equal(survey.processes[1].pid, 101);
}

/* The driver hides the processes of others: a member holds the file, and the list is empty. */
static void an_empty_list_beside_a_holder_is_foreign(void **state)
{
	(void)state;
	survey.process_count = 0;
	device->tenant_count = 0;
	hold(0, GPU_FILE_NVIDIA, 1);
	hold(0, GPU_FILE_DRM, 0);
	judge_them(false);
	assert_int_equal(device->holder_count, 0);
	assert_int_equal(device->pids, GPU_PIDS_OURS);
	hold(1, GPU_FILE_NVIDIA, 0);
	hold(1, GPU_FILE_NVIDIA, 0);
	judge_them(false);
	assert_int_equal(device->holder_count, 1);
	assert_int_equal(device->pids, GPU_PIDS_FOREIGN);
}

static void holders_are_unknown_if_one_cannot_be_searched(void **state)
{
	(void)state;
	hold(0, GPU_FILE_NVIDIA, 0);
	holders[1].denied = ENOENT;
	judge_them(false);
	assert_int_equal(device->holder_count, 1);
	for (int error = EPERM; error; error = error == EPERM ? EACCES : 0) {
		device->pids = GPU_PIDS_UNKNOWN;
		holders[1].denied = error;
		judge_them(true);
		assert_int_equal(device->holder_count, -1);
		assert_int_equal(device->pids, GPU_PIDS_UNKNOWN);
	}
	device->pids = GPU_PIDS_OURS;
	device->tenant_count = 0;
	judge_them(false);
	assert_int_equal(device->pids, GPU_PIDS_FOREIGN);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_ids_of_nvidia_may_be_those_of_others, begin, end),
		cmocka_unit_test_setup_teardown(the_first_namespace_has_a_known_number, begin, end),
		cmocka_unit_test_setup_teardown(an_id_of_one_member_becomes_its_own, begin, end),
		cmocka_unit_test_setup_teardown(an_id_that_exists_stays, begin, end),
		cmocka_unit_test_setup_teardown(where_all_is_seen_nothing_is_mapped, begin, end),
		cmocka_unit_test_setup_teardown(an_id_of_two_members_or_of_none_is_foreign, begin, end),
		cmocka_unit_test_setup_teardown(processes_of_other_devices_are_left_alone, begin, end),
		cmocka_unit_test_setup_teardown(an_empty_list_beside_a_holder_is_foreign, begin, end),
		cmocka_unit_test_setup_teardown(holders_are_unknown_if_one_cannot_be_searched, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
