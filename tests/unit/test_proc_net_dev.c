/* Tests of src/kernel/proc_net_dev.c. */
#include "kernel.h"

#include "kernel/proc_net_dev.h"

static const char USUAL[] = "Inter-|   Receive                                                |  Transmit\n"
			    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
			    "packets errs drop fifo colls\n"
			    "    lo:    3193      29    0    0    0     0          0         0     3193      "
			    "29    0    0    0     0 0 0\n"
			    "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
			    "eth0:1:18446744073709551615 21 0 0 0 0 0 0 29 0 0 0 0 0 0 0\n"
			    "wlan_\xc3\xa4:5 6\n";

static void any_name_is_taken(void **state)
{
	struct scan interfaces = parse_proc_net_dev(USUAL, strlen(USUAL));
	struct net_dev interface;

	(void)state;
	assert_true(proc_net_dev_next(&interfaces, &interface));
	assert_scan_equal(&interface.name, "lo");
	assert_int_equal(interface.receive_bytes, 3193);
	assert_true(proc_net_dev_next(&interfaces, &interface));
	assert_scan_equal(&interface.name, "eth0");
	assert_int_equal(interface.receive_bytes, 1);
	assert_int_equal(interface.receive_packets, 2);
	assert_int_equal(interface.receive_errors, 3);
	assert_int_equal(interface.receive_drops, 4);
	assert_int_equal(interface.transmit_bytes, 9);
	assert_int_equal(interface.transmit_packets, 10);
	assert_int_equal(interface.transmit_errors, 11);
	assert_int_equal(interface.transmit_drops, 12);
	assert_true(proc_net_dev_next(&interfaces, &interface));
	assert_scan_equal(&interface.name, "eth0:1");
	assert_int_equal(interface.receive_bytes, -1);
	assert_int_equal(interface.receive_packets, 21);
	assert_int_equal(interface.transmit_bytes, 29);
	assert_true(proc_net_dev_next(&interfaces, &interface));
	assert_scan_equal(&interface.name, "wlan_\xc3\xa4");
	assert_int_equal(interface.receive_packets, 6);
	assert_int_equal(interface.transmit_bytes, -1);
	assert_false(proc_net_dev_next(&interfaces, &interface));
}

static void heads_and_odd_lines_are_skipped(void **state)
{
	static const char ODD[] = "Inter-| face\n\n:\n: 1 2\neth0:\neth0: x y\neth 0: 1 2\neth1 1 2 3";
	struct scan interfaces = parse_proc_net_dev(ODD, strlen(ODD));
	struct net_dev interface;

	(void)state;
	assert_false(proc_net_dev_next(&interfaces, &interface));
}

static void parse_any(const char *bytes, size_t length)
{
	struct scan interfaces = parse_proc_net_dev(bytes, length);
	struct net_dev interface;

	while (proc_net_dev_next(&interfaces, &interface))
		assert_true(scan_left(&interface.name) > 0);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(USUAL, parse_any);
}

static void the_fixture_is_read(void **state)
{
	struct root root = test_root("hand-made-hypervisor-5.15/t0");
	struct kept_file file = KEPT_FILE("proc/net/dev");
	struct net_dev interface;
	struct scan interfaces;
	int count = 0;

	(void)state;
	assert_int_equal(read_proc_net_dev(&root, &file, &interfaces), 0);
	while (proc_net_dev_next(&interfaces, &interface))
		count++;
	assert_int_equal(count, 15);
	kept_file_close(&file);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_name_is_taken),
		cmocka_unit_test(heads_and_odd_lines_are_skipped),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(the_fixture_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
