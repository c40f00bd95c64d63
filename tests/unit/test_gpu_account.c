/* Tests of src/collect/gpu_account.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/clock.h"
#include "collect/gpu_account.h"
#include "gpu/vendor.h"
#include "job/pass.h"

enum { ROOT_PID = 1000 };

static struct gpu_survey surveys[2];
static struct timed_survey before = {&surveys[0], 0}, now = {&surveys[1], 20 * NSEC_PER_SEC};
static struct device_account accounts[GPU_DEVICES_MAX];
static struct process_share shares[GPU_PROCESSES_MAX];
static struct process_tree *tree;
static struct root root;
static const pid_t GONE[] = {ROOT_PID, 1001};
static struct gpu_members members;

/* A tree without members is enough, because the tests only ask which members have left. */
static int set_up(void **state)
{
	(void)state;
	memset(surveys, 0, sizeof surveys);
	memset(accounts, 0, sizeof accounts);
	before.at_ns = 0;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	tree->root_pid = ROOT_PID;
	members = (struct gpu_members){tree, GONE, 2};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	process_tree_free(tree);
	root_close(&root);
	return 0;
}

static struct gpu_device *add_device(enum gpu_pids pids, double percent)
{
	struct gpu_device *device = gpu_survey_add_device(&surveys[1], "NVIDIA");

	snprintf(device->uuid, sizeof device->uuid, "GPU-%lld", (long long)surveys[1].device_count);
	device->pids = pids;
	device->tenant_count = 0;
	device->readings[GPU_UTILIZATION_PCT] = gpu_value(percent);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_value(1000);
	return device;
}

static struct gpu_process *add_process(int64_t device, int64_t pid, double percent, double bytes)
{
	struct gpu_process *process = gpu_survey_process(&surveys[1], 0, device, pid);

	surveys[1].devices[device].tenant_count++;
	process->utilization_pct = gpu_value(percent);
	process->busy_secs = gpu_value(5);
	process->vram_bytes = gpu_value(bytes);
	return process;
}

static void account(void)
{
	gpu_account(&now, &before, &members, accounts, shares);
}

static void assert_near(struct gpu_number number, double wanted)
{
	assert_int_equal(number.error, 0);
	if (fabs(number.value - wanted) > 1e-9)
		fail_msg("%.9g, not %.9g", number.value, wanted);
}

/* ---- by pid ---------------------------------------------------------------------------------------- */

static void members_are_added_up_and_strangers_are_not(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 90);
	add_device(GPU_PIDS_OURS, 0);
	add_process(0, ROOT_PID, 40, 100);
	add_process(0, 1001, 20, 200);
	add_process(0, 5555, 30, 400);
	account();
	assert_near(accounts[0].usage, 0.6);
	assert_near(accounts[0].vram_bytes, 300);
	assert_near(accounts[0].main_vram_bytes, 100);
	assert_near(accounts[0].unattributed_vram_bytes, 300);
	assert_int_equal(accounts[0].process_count, 2);
	assert_string_equal(accounts[0].attribution, "pid");
	/* A device without a process of the job is known to be unused. */
	assert_near(accounts[1].usage, 0);
	assert_near(accounts[1].unattributed_vram_bytes, 1000);
}

/* Between two surveys of the same device, the mean counts. */
static void utilisation_is_the_mean_since_the_survey_before(void **state)
{
	struct gpu_device *device = add_device(GPU_PIDS_OURS, 90);

	(void)state;
	before.at_ns = 10 * NSEC_PER_SEC;
	device->readings[GPU_BUSY_SECS] = gpu_value(7);
	device->readings[GPU_COVERED_SECS] = gpu_value(14);
	surveys[0] = surveys[1];
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(4);
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(4);
	account();
	assert_near(accounts[0].utilization_pct, 30);
	/* More than all is all; no time between them, or a counter that fell, is none. */
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(12);
	account();
	assert_near(accounts[0].utilization_pct, 100);
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(14);
	account();
	assert_near(accounts[0].utilization_pct, 90);
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(4);
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(7);
	account();
	assert_near(accounts[0].utilization_pct, 0);
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(7.1);
	account();
	assert_near(accounts[0].utilization_pct, 90);
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(4);
	before.at_ns = now.at_ns;
	account();
	assert_near(accounts[0].utilization_pct, 90);
	before.at_ns = 10 * NSEC_PER_SEC;
	snprintf(surveys[0].devices[0].uuid, sizeof surveys[0].devices[0].uuid, "another");
	account();
	assert_near(accounts[0].utilization_pct, 90);
	device->readings[GPU_UTILIZATION_PCT] = gpu_absent(EACCES);
	account();
	assert_int_equal(accounts[0].utilization_pct.error, EACCES);
}

static void without_a_job_devices_are_looked_at_alone(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 90);
	add_process(0, ROOT_PID, 40, 100);
	add_process(0, 0, 40, 100);
	add_process(0, (int64_t)INT32_MAX + 1, 40, 100);
	account();
	assert_int_equal(accounts[0].process_count, 1);
	members.tree = NULL;
	account();
	assert_near(accounts[0].utilization_pct, 90);
	assert_int_equal(accounts[0].process_count, 0);
}

static void processes_that_found_no_room_may_be_the_jobs(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 90);
	add_process(0, ROOT_PID, 40, 100);
	surveys[1].left_out_count = 1;
	account();
	assert_int_equal(accounts[0].usage.error, ENOBUFS);
	assert_int_equal(accounts[0].vram_bytes.error, ENOBUFS);
	assert_near(accounts[0].utilization_pct, 90);
}

static void a_part_that_is_not_known_makes_the_sum_unknown(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 90);
	add_process(0, ROOT_PID, 40, 100)->vram_bytes = gpu_absent(EOPNOTSUPP);
	add_process(0, 5555, 40, 100);
	surveys[1].processes[0].utilization_pct = gpu_absent(EOPNOTSUPP);
	account();
	assert_int_equal(accounts[0].usage.error, EOPNOTSUPP);
	assert_int_equal(accounts[0].vram_bytes.error, EOPNOTSUPP);
	assert_int_equal(accounts[0].unattributed_vram_bytes.error, EOPNOTSUPP);
}

static void a_device_that_is_all_ours_lends_its_utilisation(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 70);
	add_process(0, ROOT_PID, 0, 100)->utilization_pct = gpu_absent(EOPNOTSUPP);
	add_process(0, 1001, 0, 100)->utilization_pct = gpu_absent(EOPNOTSUPP);
	account();
	assert_near(accounts[0].usage, 0.7);
	assert_string_equal(accounts[0].attribution, "device");
}

static void mapped_pids_are_named_so(void **state)
{
	(void)state;
	add_device(GPU_PIDS_MAPPED, 70);
	add_process(0, 1001, 30, 100);
	account();
	assert_near(accounts[0].usage, 0.3);
	assert_string_equal(accounts[0].attribution, "nspid");
}

static void clients_of_the_kernels_drivers(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 70)->memory_kind = GPU_MEMORY_UNIFIED;
	add_process(0, 1001, 30, 0)->vram_bytes = gpu_absent(EOPNOTSUPP);
	surveys[1].devices[0].tenant_count = -1;
	account();
	assert_near(accounts[0].usage, 0.3);
	assert_near(accounts[0].vram_bytes, 0);
	assert_string_equal(accounts[0].attribution, "fdinfo");
	surveys[1].devices[0].pids = GPU_PIDS_NOT_ASKED;
	account();
	assert_int_equal(accounts[0].usage.error, EINPROGRESS);
}

/* ---- in a container -------------------------------------------------------------------------------- */

static void a_sole_tenant_is_the_job_if_a_member_holds_the_device_file(void **state)
{
	(void)state;
	add_device(GPU_PIDS_FOREIGN, 80)->holder_count = 1;
	add_process(0, 90001, 55, 640);
	account();
	assert_near(accounts[0].usage, 0.55);
	assert_near(accounts[0].vram_bytes, 640);
	assert_int_equal(accounts[0].main_vram_bytes.error, EXDEV);
	assert_string_equal(accounts[0].attribution, "device");
	surveys[1].processes[0].utilization_pct = gpu_absent(EOPNOTSUPP);
	account();
	assert_near(accounts[0].usage, 0.8);
}

static struct gpu_process *add_client(int64_t pid)
{
	struct gpu_process *client = add_process(0, pid, 0, 100);

	client->kinds = GPU_PROCESS_COMPUTE | GPU_PROCESS_MPS_CLIENT;
	client->utilization_pct = gpu_absent(EXDEV);
	return client;
}

static void the_server_of_mps_works_for_the_job_of_all_its_clients(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 51);
	add_client(ROOT_PID);
	add_client(1001);
	add_process(0, 77, 51, 66);
	account();
	assert_near(accounts[0].usage, 0.51);
	assert_near(accounts[0].vram_bytes, 200);
	assert_string_equal(accounts[0].attribution, "device");
	/* Another process beside the server works, too, or it is the client of another job. */
	add_process(0, 78, 0, 100);
	account();
	assert_int_equal(accounts[0].usage.error, EXDEV);
	surveys[1].processes[3].kinds = GPU_PROCESS_COMPUTE | GPU_PROCESS_MPS_CLIENT;
	account();
	assert_int_equal(accounts[0].usage.error, EXDEV);
	assert_near(accounts[0].vram_bytes, 200);
}

static void a_server_of_mps_that_the_job_has_started_is_a_part_of_it(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 51);
	add_client(ROOT_PID);
	add_process(0, 1001, 51, 66);
	account();
	assert_near(accounts[0].usage, 0.51);
	/* A client of another job works through it. */
	add_client(77);
	account();
	assert_int_equal(accounts[0].usage.error, EXDEV);
}

static void a_device_that_no_member_holds_is_not_used(void **state)
{
	(void)state;
	add_device(GPU_PIDS_FOREIGN, 80)->holder_count = 0;
	add_process(0, 90001, 55, 640);
	account();
	assert_near(accounts[0].usage, 0);
	assert_near(accounts[0].vram_bytes, 0);
	assert_string_equal(accounts[0].attribution, "files");
}

static void use_that_cannot_be_attributed_is_absent(void **state)
{
	(void)state;
	/* Two tenants; a list emptied for us; files that we may not see. */
	add_device(GPU_PIDS_FOREIGN, 80)->holder_count = 1;
	add_process(0, 90001, 55, 640);
	add_process(0, 90002, 5, 64);
	add_device(GPU_PIDS_FOREIGN, 80)->holder_count = 1;
	add_device(GPU_PIDS_UNKNOWN, 80)->holder_count = -1;
	account();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(accounts[i].usage.error, EXDEV);
		assert_int_equal(accounts[i].vram_bytes.error, EXDEV);
		assert_string_equal(accounts[i].attribution, "none");
	}
}

/* ---- rates are means since the last survey --------------------------------------------------------- */

static void rates_are_means_since_the_survey_before(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 10);
	add_process(0, ROOT_PID, 10, 100);
	surveys[0] = surveys[1];
	before.at_ns = now.at_ns - 10 * NSEC_PER_SEC;
	surveys[0].processes[0].busy_secs = gpu_value(2);
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(1);
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(10);
	surveys[1].devices[0].readings[GPU_BUSY_SECS] = gpu_value(9);
	surveys[1].devices[0].readings[GPU_COVERED_SECS] = gpu_value(20);
	account();
	assert_near(accounts[0].usage, 0.3);
	assert_near(accounts[0].utilization_pct, 80);
	/* A restarted helper counts from zero, so the last reading stands in. */
	surveys[1].processes[0].busy_secs = gpu_value(0.1);
	surveys[1].devices[0].readings[GPU_BUSY_SECS] = gpu_value(0.1);
	account();
	assert_near(accounts[0].usage, 0.1);
	assert_near(accounts[0].utilization_pct, 10);
	/* So it does where the time is unknown. */
	surveys[1].processes[0].busy_secs = (struct gpu_number){.error = ENOTSUP};
	account();
	assert_near(accounts[0].usage, 0.1);
}

static void another_device_in_its_place_has_no_past(void **state)
{
	(void)state;
	add_device(GPU_PIDS_OURS, 10);
	surveys[0] = surveys[1];
	before.at_ns = now.at_ns - NSEC_PER_SEC;
	surveys[0].devices[0].readings[GPU_BUSY_SECS] = gpu_value(0);
	surveys[0].devices[0].readings[GPU_COVERED_SECS] = gpu_value(0);
	surveys[1].devices[0].readings[GPU_BUSY_SECS] = gpu_value(1);
	surveys[1].devices[0].readings[GPU_COVERED_SECS] = gpu_value(1);
	snprintf(surveys[0].devices[0].uuid, sizeof surveys[0].devices[0].uuid, "GPU-other");
	account();
	assert_near(accounts[0].utilization_pct, 10);
}

/* ---- MIG ------------------------------------------------------------------------------------------- */

static void an_instance_counts_for_its_part_of_the_device(void **state)
{
	struct gpu_device *whole = add_device(GPU_PIDS_UNKNOWN, 0), *instance;

	(void)state;
	whole->readings[GPU_UTILIZATION_PCT] = gpu_absent(EOPNOTSUPP);
	instance = add_device(GPU_PIDS_OURS, 50);
	instance->parent = 0;
	instance->readings[GPU_SHARE] = gpu_value(0.25);
	add_process(1, ROOT_PID, 0, 100)->utilization_pct = gpu_absent(EOPNOTSUPP);
	account();
	assert_true(accounts[0].divided);
	assert_near(accounts[1].used_part, 0.5);
	assert_near(accounts[1].usage, 0.125);
	assert_string_equal(accounts[1].attribution, "device");
}

static void without_a_tree_only_devices_are_filled(void **state)
{
	(void)state;
	members = (struct gpu_members){NULL, NULL, 0};
	add_device(GPU_PIDS_OURS, 50);
	add_process(0, ROOT_PID, 10, 100);
	account();
	assert_near(accounts[0].utilization_pct, 50);
	assert_null(accounts[0].attribution);
	assert_int_equal(accounts[0].process_count, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_are_added_up_and_strangers_are_not, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(utilisation_is_the_mean_since_the_survey_before, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_a_job_devices_are_looked_at_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_that_found_no_room_may_be_the_jobs, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_part_that_is_not_known_makes_the_sum_unknown, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_device_that_is_all_ours_lends_its_utilisation, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(mapped_pids_are_named_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(clients_of_the_kernels_drivers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sole_tenant_is_the_job_if_a_member_holds_the_device_file,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_server_of_mps_works_for_the_job_of_all_its_clients,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_server_of_mps_that_the_job_has_started_is_a_part_of_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_device_that_no_member_holds_is_not_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(use_that_cannot_be_attributed_is_absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rates_are_means_since_the_survey_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_device_in_its_place_has_no_past, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_instance_counts_for_its_part_of_the_device, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_a_tree_only_devices_are_filled, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
