/* Tests of src/kernel/sys_powercap.c. */
#include "kernel.h"

#include "kernel/sys_powercap.h"

static void sockets_and_their_memory_are_listed(void **state)
{
	static const char *const NAMES[] = {"package-0", "package-0/dram", "package-1", "package-1/dram"};
	struct root root = test_root("hand-made-slurm-5.14/t0");
	struct power_zone zones[8];

	(void)state;
	/* core is a part of its package, and intel-rapl-mmio:0 is package-0 again. */
	assert_int_equal(read_sys_powercap(&root, zones, 8), 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(zones[i].name, NAMES[i]);
	assert_true(zones[0].range_uj == INT64_C(262143328850));
	assert_true(zones[1].range_uj == INT64_C(65712999613));
	assert_int_equal(read_sys_powercap(&root, zones, 2), 4);
	root_close(&root);
}

static void a_counter_is_read_in_microjoules(void **state)
{
	struct root root = test_root("hand-made-slurm-5.14/t0");
	struct power_zone zones[8];
	int64_t found;
	int fd;

	(void)state;
	assert_int_equal(read_sys_powercap(&root, zones, 8), 4);
	fd = open_power_counter(&root, &zones[0]);
	assert_true(fd >= 0);
	assert_int_equal(read_power_counter(&root, fd, &found), 0);
	assert_int_equal(found, 1000000000);
	close(fd);
	root_close(&root);
}

static void a_machine_without_counters_gives_enoent(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0");
	struct power_zone zones[8];

	(void)state;
	assert_int_equal(read_sys_powercap(&root, zones, 8), -ENOENT);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_and_their_memory_are_listed),
		cmocka_unit_test(a_counter_is_read_in_microjoules),
		cmocka_unit_test(a_machine_without_counters_gives_enoent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
