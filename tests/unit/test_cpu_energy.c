/* Tests of src/collect/cpu_energy.c and numa.c: energy of the sockets, and memory of the nodes. */
#include "lone_collector.h"

#include <errno.h>

extern const struct collector CPU_ENERGY_COLLECTOR, NUMA_COLLECTOR;

#define ZONES "sys/class/powercap/"

/* A zone whose counter begins again at 100 J. */
static void put_zone(const char *zone, const char *name, const char *microjoules)
{
	char path[200];

	snprintf(path, sizeof path, ZONES "%s/name", zone);
	put_below(path, name);
	snprintf(path, sizeof path, ZONES "%s/max_energy_range_uj", zone);
	put_text(path, "100000000\n");
	snprintf(path, sizeof path, ZONES "%s/energy_uj", zone);
	put_text(path, microjoules);
}

/* A sample with the CPU time of the machine and of the job. */
static const struct tree_row *sample(double secs, double busy_secs, double job_secs)
{
	SINGLE_ROW(lone_begin(secs), host_cpu)->busy_secs = busy_secs;
	SINGLE_ROW(&lone.frame, tree)->cpu_total_secs = job_secs;
	(void)lone_fill();
	return FIRST(&lone.frame, tree);
}

static double machine_joules(void)
{
	return FIRST(&lone.frame, host_cpu)->energy_total_joules;
}

static double zone_joules(const char *zone)
{
	for (const struct energy_row *row = FIRST(&lone.frame, energy); row; row = NEXT(row, energy))
		if (strcmp(row->zone, zone) == 0)
			return row->energy_total_joules;
	return no_real(ABSENT_END - 1);
}

static void begin_with(const struct collector *collector)
{
	lone.context.tree = &lone.tree;
	lone_open(collector);
}

static void sockets_are_added_up(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "10000000\n");
	put_zone("intel-rapl:1", "package-1\n", "0\n");
	put_zone("intel-rapl:2", "psys\n", "5000000\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 10, 0);
	assert_real(machine_joules(), 0);
	put_zone("intel-rapl:0", "package-0\n", "13000000\n");
	put_zone("intel-rapl:1", "package-1\n", "500000\n");
	put_zone("intel-rapl:2", "psys\n", "15000000\n");
	(void)sample(1, 11, 0);
	assert_real(zone_joules("package-0"), 3);
	assert_real(zone_joules("package-1"), 0.5);
	assert_real(zone_joules("psys"), 10);
	assert_real(machine_joules(), 3.5);
	assert_int_equal(lone.frame.missing[ROW_energy], 0);
}

static void a_counter_begins_again_at_its_range(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "99000000\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 10, 0);
	put_zone("intel-rapl:0", "package-0\n", "2000000\n");
	(void)sample(1, 11, 0);
	assert_real(machine_joules(), 3);
	put_zone("intel-rapl:0", "package-0\n", "2500000\n");
	(void)sample(2, 12, 0);
	assert_real(machine_joules(), 3.5);
	/* One that stands still in its upper half has not begun again. */
	put_zone("intel-rapl:0", "package-0\n", "60000000\n");
	(void)sample(2.2, 12, 0);
	(void)sample(2.4, 12, 0);
	assert_real(machine_joules(), 3.5 + 57.5);
	/* It was beyond its range, so its way to the beginning is unknown. */
	put_zone("intel-rapl:0", "package-0\n", "100000000\n");
	(void)sample(3, 13, 0);
	assert_real(machine_joules(), 3 + 98);
	put_zone("intel-rapl:0", "package-0\n", "1000000\n");
	(void)sample(4, 14, 0);
	assert_absent_real(machine_joules(), ABSENT_COUNTER_RESET);
	put_zone("intel-rapl:0", "package-0\n", "1500000\n");
	(void)sample(5, 15, 0);
	assert_real(machine_joules(), 101.5);
}

/* A suspend resets it anywhere: a wrap comes from the upper half of its range of 100 J. */
static void a_counter_that_falls_from_its_lower_half_was_reset(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "50000000\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 10, 0);
	put_zone("intel-rapl:0", "package-0\n", "1000000\n");
	(void)sample(1, 11, 0);
	assert_absent_real(machine_joules(), ABSENT_COUNTER_RESET);
	put_zone("intel-rapl:0", "package-0\n", "50000001\n");
	(void)sample(2, 12, 0);
	assert_real(machine_joules(), 49.000001);
	put_zone("intel-rapl:0", "package-0\n", "1000000\n");
	(void)sample(3, 13, 0);
	assert_real(machine_joules(), 49.000001 + 50.999999);
}

static void an_unreadable_socket_hides_the_sum(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "1000000\n");
	put_zone("intel-rapl:1", "package-1\n", "1000000\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 10, 0);
	put_text(ZONES "intel-rapl:1/energy_uj", "none\n");
	put_text(ZONES "intel-rapl:0/energy_uj", "3000000\n");
	assert_true(real_absent(sample(1, 11, 1)->cpu_energy_total_joules));
	assert_real(zone_joules("package-0"), 2);
	assert_true(real_absent(zone_joules("package-1")));
	assert_true(real_absent(machine_joules()));
	/* Its use meanwhile counts as soon as it can be read. */
	put_text(ZONES "intel-rapl:1/energy_uj", "5000000\n");
	put_text(ZONES "intel-rapl:0/energy_uj", "4000000\n");
	(void)sample(2, 12, 2);
	assert_real(machine_joules(), 7);
}

static void a_socket_that_stands_still_is_not_counted(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "1000\n");
	put_zone("intel-rapl:0:0", "dram\n", "1000\n");
	put_zone("intel-rapl:1", "psys\n", "1000\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 10, 0);
	(void)sample(0.5, 10.1, 0);
	assert_real(machine_joules(), 0);
	assert_absent_real(sample(1, 10.2, 0)->cpu_energy_total_joules, ABSENT_NOT_COUNTED);
	assert_absent_real(machine_joules(), ABSENT_NOT_COUNTED);
	assert_absent_real(zone_joules("package-0"), ABSENT_NOT_COUNTED);
	assert_absent_real(zone_joules("psys"), ABSENT_NOT_COUNTED);
	assert_real(zone_joules("package-0/dram"), 0);
	/* Here it counts again. */
	put_text(ZONES "intel-rapl:0/energy_uj", "2001000\n");
	(void)sample(2, 10.3, 0);
	assert_real(machine_joules(), 2);
	(void)sample(2.5, 10.4, 0);
	assert_real(machine_joules(), 2);
}

/* 100 J, 1.5 s of CPU time on the machine, 0.9 s of it by the job: 60 J. */
static void the_job_has_a_part_by_its_time(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "0\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	assert_real(sample(0, 50, 2)->cpu_energy_total_joules, 0);
	put_text(ZONES "intel-rapl:0/energy_uj", "100000000\n");
	assert_real(sample(1, 51.5, 2.9)->cpu_energy_total_joules, 60);
}

static void the_last_sample_shares_at_any_time(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "0\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 50, 2);
	put_text(ZONES "intel-rapl:0/energy_uj", "10000000\n");
	assert_real(sample(0.0999, 51, 2.5)->cpu_energy_total_joules, 0);
	assert_real(sample(0.1, 51, 2.5)->cpu_energy_total_joules, 5);
	put_text(ZONES "intel-rapl:0/energy_uj", "20000000\n");
	lone.ending.reason = "exit";
	assert_real(sample(0.11, 52, 2.75)->cpu_energy_total_joules, 7.5);
}

/* The machine's time is coarse: no job used more than all. */
static void the_job_uses_no_more_than_all(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "0\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 50, 2);
	put_text(ZONES "intel-rapl:0/energy_uj", "10000000\n");
	assert_real(sample(1, 50.5, 3)->cpu_energy_total_joules, 10);
	put_text(ZONES "intel-rapl:0/energy_uj", "20000000\n");
	assert_real(sample(2, 50.5, 3)->cpu_energy_total_joules, 10);
	/* A sample without the job's time adds nothing. */
	put_text(ZONES "intel-rapl:0/energy_uj", "30000000\n");
	assert_real(sample(3, no_real(ENOENT), 4)->cpu_energy_total_joules, 10);
}

static void without_the_machines_time_nothing_is_shared(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "0\n");
	begin_with(&CPU_ENERGY_COLLECTOR);
	assert_absent_real(sample(0, no_real(ENOENT), 2)->cpu_energy_total_joules, ABSENT_NO_ATTRIBUTION);
	(void)SINGLE_ROW(lone_begin(0.3), tree);
	(void)lone_fill();
	assert_absent_real(FIRST(&lone.frame, tree)->cpu_energy_total_joules, ABSENT_NO_ATTRIBUTION);
	/* Nothing is tracked. */
	lone.context.tree = NULL;
	assert_absent_real(sample(0.6, 1, 1)->cpu_energy_total_joules, ABSENT_NOT_COLLECTED);
	lone.context.progress.baseline = true;
	assert_real(sample(0.6, 1, 1)->cpu_energy_total_joules, 0);
}

static void a_machine_without_counters(void **state)
{
	static struct selection selection;

	(void)state;
	begin_with(&CPU_ENERGY_COLLECTOR);
	assert_absent_real(sample(0, 1, 1)->cpu_energy_total_joules, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(machine_joules(), ABSENT_NO_SUCH_COUNTER);
	assert_int_equal(lone.frame.missing[ROW_energy], ABSENT_NO_SUCH_COUNTER);
	lone.collector->close(lone.state);
	put_below("sys/class/powercap", "");
	begin_with(&CPU_ENERGY_COLLECTOR);
	(void)sample(0, 1, 1);
	assert_int_equal(lone.frame.missing[ROW_energy], ENOTDIR);
	assert_absent_real(machine_joules(), ENOTDIR);
	lone.context.selection = &selection;
	assert_int_equal(CPU_ENERGY_COLLECTOR.open(&lone.context, &(void *){NULL}), -ENOTSUP);
	lone.collector->close(lone.state);
	selection.kinds[ROW_energy] = true;
	begin_with(&CPU_ENERGY_COLLECTOR);
	lone.collector->close(lone.state);
	selection.kinds[ROW_energy] = false;
	IS_WANTED(&selection, host_cpu, energy_joules) = true;
	begin_with(&CPU_ENERGY_COLLECTOR);
	lone.collector->close(lone.state);
	IS_WANTED(&selection, host_cpu, energy_joules) = false;
	IS_WANTED(&selection, tree, process_cpu_energy_joules) = true;
	begin_with(&CPU_ENERGY_COLLECTOR);
}

/* ---- memory of nodes --------------------------------------------------------------------------------------- */

static void put_node(int node, const char *meminfo)
{
	char path[100];

	snprintf(path, sizeof path, "sys/devices/system/node/node%d/meminfo", node);
	put_below(path, meminfo);
}

static const struct numa_row *nodes_at(double secs)
{
	lone.collector->prepare(lone.state, &lone.context);
	return FIRST(lone_sample(secs), numa);
}

static void each_node_has_its_memory(void **state)
{
	const struct numa_row *row;

	(void)state;
	put_below("sys/devices/system/node/online", "0,2\n");
	put_below("sys/devices/system/node/has_memory", "0,2\n");
	put_node(0, "Node 0 MemTotal: 4096 kB\nNode 0 MemFree: 1024 kB\nNode 0 FilePages: 2048 kB\n"
		    "Node 0 AnonPages: 0 kB\n");
	put_node(2, "Node 2 MemTotal: 8192 kB\n");
	begin_with(&NUMA_COLLECTOR);
	row = nodes_at(1);
	assert_string_equal(row->node, "node0");
	assert_real(row->total_mib, 4);
	assert_real(row->free_mib, 1);
	assert_real(row->file_mib, 2);
	assert_real(row->anon_mib, 0);
	assert_absent_real(row->cgroup_anon_mib, ABSENT_NO_SUCH_COUNTER);
	row = NEXT(row, numa);
	assert_string_equal(row->node, "node2");
	assert_real(row->total_mib, 8);
	assert_absent_real(row->free_mib, ABSENT_NO_SUCH_COUNTER);
	assert_null(row->row.next);
}

/* Version 2 counts bytes, version 1 counts pages and has other words. */
static void a_group_has_its_part_of_each_node(void **state)
{
	struct cgroup_place place = {.memberships_hash = 1};
	const struct numa_row *row;

	(void)state;
	lone.root.page_bytes = 4096;
	put_below("sys/devices/system/node/online", "0-1\n");
	put_below("sys/devices/system/node/has_memory", "0-1\n");
	put_node(0, "Node 0 MemTotal: 4096 kB\n");
	put_node(1, "Node 1 MemTotal: 4096 kB\n");
	begin_with(&NUMA_COLLECTOR);
	put_below("group/memory.numa_stat", "anon N0=1048576 N1=2097152\nfile N0=0\n");
	lone.context.place = &place;
	lone.context.memory_folder = open("group", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	row = nodes_at(1);
	assert_real(row->cgroup_anon_mib, 1);
	assert_real(row->cgroup_file_mib, 0);
	row = NEXT(row, numa);
	assert_real(row->cgroup_anon_mib, 2);
	assert_absent_real(row->cgroup_file_mib, ABSENT_NO_SUCH_COUNTER);
	place.chains[CGROUP_MEMORY].depth = 1;
	put_text("group/memory.numa_stat",
		 "anon=1 N0=1 N1=0\nhierarchical_anon=768 N0=256 N1=512\nhierarchical_file=0 N0=0 N1=0\n");
	row = nodes_at(2);
	assert_real(row->cgroup_anon_mib, 1);
	assert_real(NEXT(row, numa)->cgroup_anon_mib, 2);
	assert_real(NEXT(row, numa)->cgroup_file_mib, 0);
	lone.context.place = NULL;
	assert_absent_real(nodes_at(3)->cgroup_anon_mib, ABSENT_NO_SUCH_COUNTER);
	close(lone.context.memory_folder);
}

static void one_node_is_the_machine(void **state)
{
	(void)state;
	begin_with(&NUMA_COLLECTOR);
	assert_null(nodes_at(1));
	assert_int_equal(lone.frame.missing[ROW_numa], ENOENT);
	put_below("sys/devices/system/x", "");
	assert_null(nodes_at(1));
	assert_int_equal(lone.frame.missing[ROW_numa], 0);
	put_below("sys/devices/system/node/online", "0\n");
	put_below("sys/devices/system/node/has_memory", "0\n");
	put_node(0, "Node 0 MemTotal: 4096 kB\n");
	assert_null(nodes_at(2));
	assert_int_equal(lone.frame.missing[ROW_numa], 0);
}

#define energy_test(test) cmocka_unit_test_setup_teardown(test, lone_enter, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		energy_test(sockets_are_added_up),
		energy_test(a_counter_begins_again_at_its_range),
		energy_test(a_counter_that_falls_from_its_lower_half_was_reset),
		energy_test(a_socket_that_stands_still_is_not_counted),
		energy_test(an_unreadable_socket_hides_the_sum),
		energy_test(the_job_has_a_part_by_its_time),
		energy_test(the_last_sample_shares_at_any_time),
		energy_test(the_job_uses_no_more_than_all),
		energy_test(without_the_machines_time_nothing_is_shared),
		energy_test(a_machine_without_counters),
		energy_test(each_node_has_its_memory),
		energy_test(a_group_has_its_part_of_each_node),
		energy_test(one_node_is_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
