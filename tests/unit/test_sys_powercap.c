/* Tests of src/kernel/sys_powercap.c. */
#include "scratch.h"
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

static void put_zone(const char *folder, const char *name, const char *range)
{
	char path[200];

	snprintf(path, sizeof path, "sys/class/powercap/%s/energy_uj", folder);
	put_below(path, "5\n");
	if (name) {
		snprintf(path, sizeof path, "sys/class/powercap/%s/name", folder);
		put_below(path, name);
	}
	if (range) {
		snprintf(path, sizeof path, "sys/class/powercap/%s/max_energy_range_uj", folder);
		put_below(path, range);
	}
}

static void only_packages_and_their_memory_are_zones(void **state)
{
	struct power_zone zones[8];
	struct root root;
	char folder[64];

	(void)state;
	put_zone("intel-rapl:0", "package-0", "1");
	put_zone("intel-rapl:0:0", "core", "1");
	put_zone("intel-rapl:0:1", "dram", "0");
	put_zone("intel-rapl:0:1:0", "dram", "1");
	put_zone("intel-rapl:1", "psys", "-1");
	put_zone("intel-rapl:2", NULL, "1");
	/* Its package has no name. */
	put_zone("intel-rapl:2:0", "dram", "1");
	put_zone("intel-rapl:4", "another", NULL);
	put_zone("intel-rapl:3x", "package-3", "1");
	put_zone("intel-rapl", "control", "1");
	put_zone("intel-rapl-mmio:0", "package-0", "1");
	put_zone(":5", "package-5", "1");
	/* 47 bytes of a name fit. */
	snprintf(folder, sizeof folder, "intel-rapl:%036d", 7);
	put_zone(folder, "fits", "7");
	snprintf(folder, sizeof folder, "intel-rapl:%037d", 8);
	put_zone(folder, "long", "1");
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_powercap(&root, zones, 8), 5);
	assert_string_equal(zones[0].name, "another");
	assert_int_equal(zones[0].range_uj, -1);
	assert_string_equal(zones[1].name, "fits");
	assert_int_equal(zones[1].range_uj, 7);
	assert_string_equal(zones[2].name, "package-0");
	assert_int_equal(zones[2].range_uj, 1);
	assert_string_equal(zones[3].name, "package-0/dram");
	assert_int_equal(zones[3].range_uj, -1);
	assert_string_equal(zones[3].folder, "intel-rapl:0:1");
	assert_string_equal(zones[4].name, "psys");
	assert_int_equal(zones[4].range_uj, -1);
	root_close(&root);
}

static void a_list_that_is_too_short_is_in_order_and_whole(void **state)
{
	struct power_zone zones[3] = {{.name = ""}, {.name = ""}, {.name = "untouched"}};
	struct root root;

	(void)state;
	put_zone("intel-rapl:0", "b", "1");
	put_zone("intel-rapl:1", "a", "1");
	put_zone("intel-rapl:2", "c", "1");
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_powercap(&root, zones, 2), 3);
	assert_true(strcmp(zones[0].name, zones[1].name) < 0);
	assert_string_equal(zones[2].name, "untouched");
	root_close(&root);
}

static void a_counter_is_one_number(void **state)
{
	struct power_zone zone = {.folder = "intel-rapl:0"};
	struct root root;
	int64_t found = 7;
	int fd;

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(open_power_counter(&root, &zone), -ENOENT);
	put_zone("intel-rapl:0", "package-0", NULL);
	fd = open_power_counter(&root, &zone);
	assert_int_equal(read_power_counter(&root, fd, &found), 0);
	assert_int_equal(found, 5);
	put_text("sys/class/powercap/intel-rapl:0/energy_uj", "9223372036854775808");
	assert_int_equal(read_power_counter(&root, fd, &found), -EBADMSG);
	put_text("sys/class/powercap/intel-rapl:0/energy_uj", "");
	assert_int_equal(read_power_counter(&root, fd, &found), -EBADMSG);
	put_text("sys/class/powercap/intel-rapl:0/energy_uj", "9223372036854775807\n");
	assert_int_equal(read_power_counter(&root, fd, &found), 0);
	assert_true(found == INT64_MAX);
	close(fd);
	assert_int_equal(read_power_counter(&root, -1, &found), -EBADF);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_and_their_memory_are_listed),
		cmocka_unit_test(a_counter_is_read_in_microjoules),
		cmocka_unit_test(a_machine_without_counters_gives_enoent),
		unit_test_in_scratch(only_packages_and_their_memory_are_zones),
		unit_test_in_scratch(a_list_that_is_too_short_is_in_order_and_whole),
		unit_test_in_scratch(a_counter_is_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
