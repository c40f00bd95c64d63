/* Tests of src/kernel/sys_node.c. */
#include "scratch.h"
#include "kernel.h"

#include "kernel/sys_node.h"

static void a_node_has_its_memory(void **state)
{
	static const char TEXT[] =
		"Node 1 MemTotal:       131072000 kB\nNode 1 MemFree:        120000000 kB\n"
		"Node 1 FilePages:      4096000 kB\nNode 1 HugePages_Total:     0\n";
	struct node_memory memory;

	(void)state;
	assert_int_equal(parse_node_meminfo(TEXT, strlen(TEXT), &memory), 0);
	assert_int_equal(memory.total_kib, 131072000);
	assert_int_equal(memory.free_kib, 120000000);
	assert_int_equal(memory.file_kib, 4096000);
	assert_int_equal(memory.anon_kib, -1);
	assert_int_equal(parse_node_meminfo("MemTotal: 5 kB\n", 15, &memory), -EBADMSG);
	assert_int_equal(memory.file_kib, 4096000);
}

static void numa_stat_of_both_versions_is_read(void **state)
{
	static const char V2[] =
		"anon N0=700000000 N1=15827882\nfile N0=268435456 N1=0\nanon_thp N0=5 N1=6\n";
	static const char V1[] = "total=7 N0=4 N1=3\nanon=5 N0=5 N1=0\nhierarchical_total=9 N0=5 N1=4\n"
				 "hierarchical_anon=8 N0=5 N1=3\n";
	int64_t value = 7;

	(void)state;
	assert_true(numa_stat_value(V2, strlen(V2), "anon", 1, &value));
	assert_int_equal(value, 15827882);
	assert_true(numa_stat_value(V2, strlen(V2), "file", 0, &value));
	assert_int_equal(value, 268435456);
	assert_true(numa_stat_value(V1, strlen(V1), "hierarchical_anon", 1, &value));
	assert_int_equal(value, 3);
	assert_false(numa_stat_value(V1, strlen(V1), "hierarchical_file", 1, &value));
	assert_false(numa_stat_value(V2, strlen(V2), "anon", 2, &value));
	assert_int_equal(value, 3);
}

static void nodes_are_listed_in_their_order(void **state)
{
	struct root root = test_root("hand-made-slurm-5.14/t0");
	int nodes[8];

	(void)state;
	assert_int_equal(read_sys_nodes(&root, nodes, 8), 2);
	assert_int_equal(nodes[0], 0);
	assert_int_equal(nodes[1], 1);
	root_close(&root);
}

static void numbers_of_nodes_have_their_most_and_their_order(void **state)
{
	static const char *const FOLDERS[] = {"node10", "node2",  "node4095", "node4096",
					      "nodex",  "node3x", "has_cpu",  "0"};
	struct root root;
	char path[100];
	int nodes[8];

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_nodes(&root, nodes, 8), -ENOENT);
	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
		snprintf(path, sizeof path, "sys/devices/system/node/%s", FOLDERS[i]);
		put_below(path, "");
	}
	assert_int_equal(read_sys_nodes(&root, nodes, 8), 3);
	assert_true(nodes[0] == 2 && nodes[1] == 10 && nodes[2] == 4095);
	nodes[2] = -7;
	assert_int_equal(read_sys_nodes(&root, nodes, 2), 2);
	assert_int_equal(nodes[2], -7);
	root_close(&root);
}

static void lines_that_a_node_lacks_are_absent(void **state)
{
	static const char TEXT[] =
		"Node 0 AnonPages: 9223372036854775807 kB\nNode 0 MemFree: 9223372036854775808 kB\n"
		"Node x MemTotal: 1 kB\nNode 0MemTotal: 1 kB\nNode 0 MemTotal 1 kB\nNode 0 FilePages: x\n";
	struct node_memory memory;

	(void)state;
	assert_int_equal(parse_node_meminfo(TEXT, strlen(TEXT), &memory), 0);
	assert_true(memory.anon_kib == INT64_MAX && memory.free_kib == -1 && memory.total_kib == -1 &&
		    memory.file_kib == -1);
	assert_int_equal(parse_node_meminfo("Node 0 MemTotal: 7 kB\n", 22, &memory), 0);
	assert_true(memory.total_kib == 7 && memory.anon_kib == -1);
}

static void numa_stat_is_found_by_its_whole_key(void **state)
{
	static const char TEXT[] =
		"\nanonymous N0=1\nanon N0=9223372036854775808 N1=9223372036854775807 N2 N3=x N=5\n";
	int64_t value = 7;

	(void)state;
	assert_false(numa_stat_value(TEXT, strlen(TEXT), "anon", 0, &value));
	assert_false(numa_stat_value(TEXT, strlen(TEXT), "anon", 2, &value));
	assert_false(numa_stat_value(TEXT, strlen(TEXT), "anon", 3, &value));
	assert_int_equal(value, 7);
	assert_true(numa_stat_value(TEXT, strlen(TEXT), "anon", 1, &value));
	assert_true(value == INT64_MAX);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_has_its_memory),
		cmocka_unit_test(numa_stat_of_both_versions_is_read),
		cmocka_unit_test(nodes_are_listed_in_their_order),
		unit_test_in_scratch(numbers_of_nodes_have_their_most_and_their_order),
		unit_test_in_scratch(lines_that_a_node_lacks_are_absent),
		unit_test_in_scratch(numa_stat_is_found_by_its_whole_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
