/* Tests of src/collect/host_network.c: interfaces of the machine, from files that this test writes. */
#include "lone_collector.h"

#include <errno.h>

extern const struct collector HOST_NETWORK_COLLECTOR;

#define HEAD "Inter-| Receive | Transmit\n face |bytes packets|bytes packets\n"
#define ETH0 "  eth0: 1000 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
#define ETH1 "  eth1: 30 1 0 0 0 0 0 0 4 2 0 0 0 0 0 0\n"
#define BR0 "  br0: 5 1 0 0 0 0 0 0 6 2 0 0 0 0 0 0\n"
#define LO "    lo: 9 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0\n"
#define ROUTES "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
#define ROUTE_BY(name) name " 00000000 0101A8C0 0003 0 0 0 00000000 0 0 0\n"

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone_open(&HOST_NETWORK_COLLECTOR);
	return 0;
}

/* A card of the machine, with a speed in Mbit/s. */
static void put_card(const char *name, const char *driver, const char *speed)
{
	char path[200], target[100];

	snprintf(path, sizeof path, "sys/class/net/%s/device/power", name);
	put_below(path, "");
	snprintf(path, sizeof path, "sys/class/net/%s/address", name);
	put_text(path, "02:00:00:aa:bb:cc\n");
	snprintf(path, sizeof path, "sys/class/net/%s/mtu", name);
	put_text(path, "1500\n");
	snprintf(path, sizeof path, "sys/class/net/%s/operstate", name);
	put_text(path, "up\n");
	snprintf(path, sizeof path, "sys/class/net/%s/speed", name);
	put_text(path, speed);
	snprintf(path, sizeof path, "sys/class/net/%s/device/driver", name);
	snprintf(target, sizeof target, "../../../../bus/drivers/%s", driver);
	assert_int_equal(symlink(target, path), 0);
}

static const struct network_row *row_of(const char *interface)
{
	for (const struct network_row *row = FIRST(&lone.frame, network); row; row = NEXT(row, network))
		if (strcmp(row->interface, interface) == 0)
			return row;
	return NULL;
}

static const struct network_row *network_at(double secs, const char *net_dev, const char *interface)
{
	put_below("proc/net/dev", net_dev);
	(void)lone_sample(secs);
	return row_of(interface);
}

static void a_card_is_described_and_counted(void **state)
{
	const struct network_row *row;

	(void)state;
	put_card("eth0", "ixgbe", "10000\n");
	row = network_at(1, HEAD LO ETH0, "eth0");
	assert_int_equal(row->rx_bytes_total, 1000);
	assert_int_equal(row->tx_bytes_total, 200);
	assert_int_equal(row->rx_bytes_counter, 1000);
	assert_int_equal(row->tx_bytes_counter, 200);
	assert_string_equal(row->mac_address, "02:00:00:aa:bb:cc");
	assert_string_equal(row->driver, "ixgbe");
	assert_string_equal(row->operstate, "up");
	assert_int_equal(row->speed_mbps, 10000);
	assert_int_equal(row->mtu, 1500);
	assert_int_equal(row->counted, 1);
	assert_int_equal(row->row.read_ns, lone.now_ns);
	/* 10,000 Mbit are 1,250,000,000 bytes. */
	assert_real(row->row.most_bytes, 1.25e9);
	assert_null(row_of("lo"));
	assert_int_equal(lone.frame.missing[ROW_network], 0);
}

/* An emulated card is as fast as memory, and one whose link is down has no speed. */
static void only_the_speed_of_a_real_card_is_a_limit(void **state)
{
	static const char *const EMULATED[] = {"virtio_net", "vmxnet3",   "e1000", "e1000e",
					       "8139cp",     "hv_netvsc", "vif"};
	const struct network_row *row;

	(void)state;
	for (size_t i = 0; i < sizeof EMULATED / sizeof *EMULATED; i++) {
		char name[20], line[100];

		snprintf(name, sizeof name, "vm%d", (int)i);
		snprintf(line, sizeof line, HEAD "%s: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n", name);
		put_card(name, EMULATED[i], "10\n");
		row = network_at(1, line, name);
		assert_int_equal(row->speed_mbps, 10);
		assert_true(row->row.most_bytes == 0);
	}
	put_card("eth0", "ixgbe", "-1\n");
	row = network_at(2, HEAD ETH0, "eth0");
	assert_absent_count(row->speed_mbps, ABSENT_NOT_A_VALUE);
	assert_true(row->row.most_bytes == 0);
	put_below("sys/class/net/eth1/speed", "10\n");
	row = network_at(3, HEAD ETH1, "eth1");
	assert_int_equal(row->speed_mbps, 10);
	assert_true(row->row.most_bytes == 0);
	assert_int_equal(text_absent(row->driver), ABSENT_NOT_A_VALUE);
}

/* Hardware counts. Without it the way out does, and without a way all do but bridges. */
static void each_byte_is_counted_once(void **state)
{
	(void)state;
	put_below("sys/class/net/br0/bridge/bridge_id", "1\n");
	put_below("sys/class/net/eth0/mtu", "1500\n");
	put_below("sys/class/net/eth1/mtu", "1500\n");
	assert_int_equal(network_at(1, HEAD ETH0 ETH1 BR0, "eth0")->counted, 1);
	assert_int_equal(row_of("eth1")->counted, 1);
	assert_int_equal(row_of("br0")->counted, 0);
	put_text("proc/net/route", ROUTES ROUTE_BY("eth1"));
	/* Descriptions are ten seconds old at most. */
	assert_int_equal(network_at(10.999, HEAD ETH0 ETH1 BR0, "eth0")->counted, 1);
	assert_int_equal(network_at(11, HEAD ETH0 ETH1 BR0, "eth0")->counted, 0);
	assert_int_equal(row_of("eth1")->counted, 1);
	assert_int_equal(row_of("br0")->counted, 0);
	put_card("card", "ixgbe", "10\n");
	assert_int_equal(network_at(12, HEAD ETH1 "card: 1 1 0 0 0 0 0 0 2 2\n", "eth1")->counted, 0);
	assert_int_equal(row_of("card")->counted, 1);
	remove("proc/net/route");
	put_text("proc/net/ipv6_route",
		 "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
		 "fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n");
	assert_int_equal(network_at(30, HEAD ETH0 ETH1, "eth1")->counted, 0);
	assert_int_equal(row_of("eth0")->counted, 1);
}

/* The master of an accelerated interface has counted the bytes of its virtual function. */
static void a_virtual_function_is_part_of_its_master(void **state)
{
	(void)state;
	put_card("eth0", "hv_netvsc", "10\n");
	put_card("eth1", "mlx5_core", "10\n");
	assert_int_equal(symlink("../eth0", "sys/class/net/eth1/master"), 0);
	assert_int_equal(network_at(1, HEAD ETH0 ETH1, "eth0")->counted, 1);
	assert_int_equal(row_of("eth1")->counted, 0);
	/* The bridge does not count, so its members do. */
	remove("sys/class/net/eth1/master");
	assert_int_equal(symlink("../br0", "sys/class/net/eth1/master"), 0);
	put_below("sys/class/net/br0/bridge/bridge_id", "1\n");
	assert_int_equal(network_at(20, HEAD ETH0 ETH1 BR0, "eth1")->counted, 1);
	assert_int_equal(row_of("br0")->counted, 0);
}

static void without_a_description_several_are_unsure(void **state)
{
	const struct network_row *row = network_at(1, HEAD ETH0, "eth0");

	(void)state;
	assert_int_equal(row->counted, 1);
	assert_absent_count(row->mtu, ENOENT);
	assert_int_equal(text_absent(row->mac_address), ENOENT);
	assert_true(row->row.most_bytes == 0);
	assert_absent_count(network_at(2, HEAD ETH0 ETH1, "eth0")->counted, ENOENT);
	put_below("sys/class/net/eth1/mtu", "1500\n");
	assert_absent_count(network_at(20, HEAD ETH0 ETH1, "eth0")->counted, ENOENT);
	assert_int_equal(row_of("eth1")->counted, 1);
	put_text("proc/net/route", ROUTES ROUTE_BY("eth0"));
	assert_int_equal(network_at(40, HEAD ETH0 ETH1, "eth0")->counted, 1);
	assert_int_equal(row_of("eth1")->counted, 0);
}

static void one_that_comes_again_is_described_again(void **state)
{
	(void)state;
	put_below("sys/class/net/eth0/mtu", "1500\n");
	put_below("sys/class/net/eth1/mtu", "1500\n");
	assert_int_equal(network_at(1, HEAD ETH0 ETH1, "eth0")->mtu, 1500);
	(void)network_at(2, HEAD ETH1, "eth1");
	assert_null(row_of("eth0"));
	put_text("sys/class/net/eth0/mtu", "9000\n");
	assert_int_equal(network_at(3, HEAD ETH0 ETH1, "eth0")->mtu, 9000);
	assert_int_equal(row_of("eth1")->rx_bytes_total, 30);
	/* It is new, so it is not taken for what has gone. */
	put_text("sys/class/net/eth0/mtu", "9001\n");
	assert_int_equal(network_at(4, HEAD ETH0 ETH1, "eth0")->mtu, 9000);
}

static void descriptions_do_not_delay_the_start(void **state)
{
	const struct network_row *row;

	(void)state;
	put_card("eth0", "ixgbe", "10\n");
	lone.context.prepared = false;
	row = network_at(0, HEAD ETH0, "eth0");
	assert_int_equal(row->rx_bytes_total, 1000);
	assert_absent_count(row->mtu, ABSENT_NOT_YET);
	assert_absent_count(row->counted, ABSENT_NOT_YET);
	assert_absent_count(row->speed_mbps, ABSENT_NOT_YET);
	assert_int_equal(text_absent(row->driver), ABSENT_NOT_YET);
	lone.context.prepared = true;
	lone.collector->prepare(lone.state, &lone.context);
	put_text("sys/class/net/eth0/mtu", "9000\n");
	assert_int_equal(network_at(9.999, HEAD ETH0, "eth0")->mtu, 1500);
	assert_int_equal(network_at(10, HEAD ETH0, "eth0")->mtu, 9000);
}

static void a_failed_reading_is_told(void **state)
{
	(void)state;
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_network], ENOENT);
	assert_null(network_at(1, HEAD, "eth0"));
	assert_int_equal(lone.frame.missing[ROW_network], ENODEV);
	assert_null(network_at(1, HEAD LO, "lo"));
	assert_int_equal(lone.frame.missing[ROW_network], 0);
	assert_absent_count(
		network_at(2, HEAD "eth0: 77777777777777777777 1 0 0 0 0 0 0 2 2\n", "eth0")->rx_bytes_total,
		EBADMSG);
	assert_int_equal(row_of("eth0")->tx_bytes_total, 2);
	assert_absent_count(network_at(3, HEAD "eth0: 0 1 0 0 0 0 0 0\n", "eth0")->tx_bytes_total, EBADMSG);
	assert_int_equal(row_of("eth0")->rx_bytes_total, 0);
	assert_int_equal(network_at(4, HEAD "eth0: 1 1 0 0 0 0 0 0 0 0\n", "eth0")->tx_bytes_total, 0);
}

#define network_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		network_test(a_card_is_described_and_counted),
		network_test(only_the_speed_of_a_real_card_is_a_limit),
		network_test(each_byte_is_counted_once),
		network_test(a_virtual_function_is_part_of_its_master),
		network_test(without_a_description_several_are_unsure),
		network_test(one_that_comes_again_is_described_again),
		network_test(descriptions_do_not_delay_the_start),
		network_test(a_failed_reading_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
