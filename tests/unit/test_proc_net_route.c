/* Tests of src/kernel/proc_net_route.c. */
#include "kernel.h"

#include "kernel/proc_net_route.h"

static void only_routes_to_everywhere_count(void **state)
{
	static const char TEXT[] =
		"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT   \n"
		"tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000080\t0\t0\t0\n"
		"eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
		"eth1\t00000000\t010200C0\t0002\t0\t0\t5\t00000000\t0\t0\t0\n"
		"*\t00000000\t00000000\t0201\t0\t0\t7\t00000000\t0\t0\t0\n"
		"eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
		"wwan0\t00000000\t00000000\t0001\t0\t0\t4294967295\t00000000\t0\t0\t0\n"
		"eth2\t00000000\t00000000\t0001\n";
	struct scan routes = parse_proc_net_route(TEXT, strlen(TEXT));
	struct default_route route;

	(void)state;
	assert_true(proc_net_route_next_default(&routes, &route));
	assert_scan_equal(&route.interface, "eth0");
	assert_int_equal(route.metric, 100);
	assert_true(proc_net_route_next_default(&routes, &route));
	assert_scan_equal(&route.interface, "wwan0");
	assert_true(route.metric == UINT32_MAX);
	assert_false(proc_net_route_next_default(&routes, &route));
}

#define ZEROS "00000000000000000000000000000000"

static void ipv6_rejecting_routes_do_not_count(void **state)
{
	static const char TEXT[] =
		"fe800000000000000000000000000000 40 " ZEROS " 00 " ZEROS
		" 00000100 00000001 00000000 00000001     eth0\n" ZEROS " 00 " ZEROS
		" 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n" ZEROS
		" 00 " ZEROS " 00 " ZEROS " ffffffff 00000001 00000000 00200200       lo\n" ZEROS " 00 x";
	struct scan routes = parse_proc_net_ipv6_route(TEXT, strlen(TEXT));
	struct default_route route;

	(void)state;
	assert_true(proc_net_ipv6_route_next_default(&routes, &route));
	assert_scan_equal(&route.interface, "eth0");
	assert_int_equal(route.metric, 1024);
	assert_false(proc_net_ipv6_route_next_default(&routes, &route));
}

#define SOME "fd000000000000000000000000000000"

/* Each line of the second table misses being a route to everywhere by one column. */
static void each_column_of_an_ipv6_route_decides(void **state)
{
	static const char *const DEFAULTS[] = {
		ZEROS " 00 " ZEROS " 00 " ZEROS " ffffffff 1 0 00000001 wwan0",
		ZEROS " 00 " SOME " 40 " SOME " 00000000 1 0 00000003 wwan0",
	};
	static const char *const OTHERS[] = {
		SOME " 00 " ZEROS " 00 " ZEROS " 00000400 1 0 00000003 eth0",
		ZEROS " 40 " ZEROS " 00 " ZEROS " 00000400 1 0 00000003 eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " 00000400 1 0 00000002 eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " 00000400 1 0 00000201 eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " 00000400 1 0 x eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " 100000000 1 0 00000003 eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " x 1 0 00000003 eth0",
		ZEROS " 00 " ZEROS " 00 " ZEROS " 00000400 1 0 00000003",
	};
	struct default_route route;

	(void)state;
	for (size_t i = 0; i < sizeof DEFAULTS / sizeof DEFAULTS[0]; i++) {
		struct scan routes = parse_proc_net_ipv6_route(DEFAULTS[i], strlen(DEFAULTS[i]));

		assert_true(proc_net_ipv6_route_next_default(&routes, &route));
		assert_scan_equal(&route.interface, "wwan0");
		assert_true(route.metric == (i ? 0 : UINT32_MAX));
	}
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
		struct scan routes = parse_proc_net_ipv6_route(OTHERS[i], strlen(OTHERS[i]));

		if (proc_net_ipv6_route_next_default(&routes, &route))
			fail_msg("%s", OTHERS[i]);
	}
}

static void a_route_has_a_metric_of_32_bits_and_no_destination(void **state)
{
	static const char TEXT[] = "eth0\t00000000\t0\t0003\t0\t0\t4294967296\t00000000\n"
				   "eth1\t00000000\t0\t0003\t0\t0\tx\t00000000\n"
				   "eth2\t000200C0\t0\t0003\t0\t0\t1\t00000000\n";
	struct scan routes = parse_proc_net_route(TEXT, strlen(TEXT));
	struct default_route route;

	(void)state;
	assert_false(proc_net_route_next_default(&routes, &route));
}

static void fixtures_name_their_uplink(void **state)
{
	struct root root = test_root("hand-made-hypervisor-5.15/t0");
	struct default_route route;
	struct scan routes;

	(void)state;
	assert_int_equal(read_proc_net_route(&root, &routes), 0);
	assert_true(proc_net_route_next_default(&routes, &route));
	assert_scan_equal(&route.interface, "br0");
	assert_false(proc_net_route_next_default(&routes, &route));
	assert_int_equal(read_proc_net_ipv6_route(&root, &routes), 0);
	assert_true(proc_net_ipv6_route_next_default(&routes, &route));
	assert_scan_equal(&route.interface, "br0");
	root_close(&root);
	root = test_root("hand-made-vm-3.10/t0");
	assert_int_equal(read_proc_net_ipv6_route(&root, &routes), -ENOENT);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_routes_to_everywhere_count),
		cmocka_unit_test(ipv6_rejecting_routes_do_not_count),
		cmocka_unit_test(each_column_of_an_ipv6_route_decides),
		cmocka_unit_test(a_route_has_a_metric_of_32_bits_and_no_destination),
		cmocka_unit_test(fixtures_name_their_uplink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
