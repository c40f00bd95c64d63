/* Tests of src/kernel/sys_class_net.c. */
#include "scratch.h"
#include "kernel.h"

#include "kernel/sys_class_net.h"

static struct sys_class_net net_of(struct root *root, const char *name)
{
	struct sys_class_net net;

	assert_int_equal(read_sys_class_net(root, name, &net), 0);
	return net;
}

static void kinds_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		enum net_kind kind;
		const char *master;
	} CASES[] = {
		{"lo", NET_LOOPBACK, ""},       {"eth0", NET_DEVICE, "bond0"},
		{"eth1", NET_DEVICE, "bond0"},  {"eth2", NET_DEVICE, ""},
		{"eth3", NET_DEVICE, "eth2"},   {"bond0", NET_BOND, ""},
		{"bond0.100", NET_VLAN, "br0"}, {"br0", NET_BRIDGE, ""},
		{"vnet0", NET_TUN, "br0"},      {"veth1a2b", NET_VETH, "br0"},
		{"docker0", NET_BRIDGE, ""},    {"veth9f8e", NET_VETH, "docker0"},
		{"dummy0", NET_VIRTUAL, ""},    {"macvtap0", NET_VIRTUAL, ""},
		{"old.200", NET_VLAN, ""},
	};
	struct root root = test_root("hand-made-hypervisor-5.15/t1");

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct sys_class_net net = net_of(&root, CASES[i].name);

		if (net.kind != CASES[i].kind || strcmp(net.master, CASES[i].master) != 0)
			fail_msg("%s: kind %d, master %s", CASES[i].name, net.kind, net.master);
	}
	root_close(&root);
}

static void identity_is_read(void **state)
{
	struct root root = test_root("hand-made-altra-256cpu-6.8/t0");
	struct sys_class_net net = net_of(&root, "enP1p3s0f0np0");

	(void)state;
	assert_string_equal(net.address, "02:00:00:00:00:02");
	assert_string_equal(net.operstate, "up");
	assert_string_equal(net.driver, "mlx5_core");
	assert_int_equal(net.mtu_bytes, 9000);
	assert_int_equal(net.speed_mbps, 100000);
	assert_int_equal(net.index, 2);
	assert_int_equal(net.link_index, 2);
	net = net_of(&root, "enP1p3s0f1np1");
	assert_int_equal(net.speed_mbps, -1);
	assert_string_equal(net.operstate, "down");
	net = net_of(&root, "ib0");
	assert_int_equal(strlen(net.address), 59);
	root_close(&root);
}

static void the_uplink_of_a_container_is_a_veth(void **state)
{
	struct root root = test_root("hand-made-container-overlay-6.5/t0");
	struct sys_class_net net = net_of(&root, "eth0");

	(void)state;
	assert_int_equal(net.kind, NET_VETH);
	assert_int_equal(net.index, 2);
	assert_int_equal(net.link_index, 37);
	assert_string_equal(net.driver, "");
	root_close(&root);
}

static void old_unknown_speeds_are_absent(void **state)
{
	char path[] = "/tmp/net-test-XXXXXX", command[256];
	char *dir = mkdtemp(path);
	static const struct {
		const char *text;
		int64_t speed;
	} CASES[] = {{"65535", -1}, {"-1", -1}, {"4294967295", -1}, {"0", -1}, {"x", -1}, {"2500", 2500}};

	(void)state;
	assert_non_null(dir);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct sys_class_net net;
		struct root root;

		snprintf(command, sizeof command,
			 "mkdir -p %s/sys/class/net/eth0 && echo %s > %s/sys/class/net/eth0/speed", dir,
			 CASES[i].text, dir);
		assert_int_equal(system(command), 0);
		assert_int_equal(root_open(&root, dir, NULL), 0);
		net = net_of(&root, "eth0");
		assert_int_equal(net.speed_mbps, CASES[i].speed);
		assert_int_equal(net.mtu_bytes, -1);
		assert_string_equal(net.address, "");
		root_close(&root);
	}
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void names_of_nothing_are_errors(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0");
	struct sys_class_net net = {.index = 7};

	(void)state;
	assert_int_equal(read_sys_class_net(&root, "none", &net), -ENOENT);
	assert_int_equal(read_sys_class_net(&root, "", &net), -ENOENT);
	assert_int_equal(read_sys_class_net(&root, "..", &net), -ENOENT);
	assert_int_equal(read_sys_class_net(&root, "a/b", &net), -ENOENT);
	assert_int_equal(net.index, 7);
	root_close(&root);
}

static void devtype_is_found_among_others(void **state)
{
	static const char TEXT[] = "INTERFACE=DEVTYPE=x\nDEVTYPE=\nDEVTYPE=vlan\nIFINDEX=7";
	char type[16] = "old";

	(void)state;
	assert_int_equal(parse_uevent_devtype("", 0, type, sizeof type), -EBADMSG);
	assert_string_equal(type, "old");
	assert_int_equal(parse_uevent_devtype(TEXT, strlen(TEXT), type, sizeof type), 0);
	assert_string_equal(type, "vlan");
}

static struct sys_class_net interface_of(const char *speed, const char *mtu)
{
	struct sys_class_net net;
	struct root root;

	put_below("sys/class/net/eth0/speed", speed);
	put_below("sys/class/net/eth0/mtu", mtu);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	net = net_of(&root, "eth0");
	root_close(&root);
	return net;
}

static void numbers_have_their_least_and_their_most(void **state)
{
	(void)state;
	assert_int_equal(interface_of("2147483647", "0").speed_mbps, INT32_MAX);
	assert_int_equal(interface_of("2147483648", "0").speed_mbps, -1);
	assert_int_equal(interface_of("1", "0").speed_mbps, 1);
	assert_int_equal(interface_of("65534", "0").speed_mbps, 65534);
	assert_int_equal(interface_of("1", "0").mtu_bytes, 0);
	assert_int_equal(interface_of("1", "-1").mtu_bytes, -1);
	assert_int_equal(interface_of("1", "x").mtu_bytes, -1);
}

static enum net_kind kind_here(const char *file, const char *text)
{
	struct root root;
	struct sys_class_net net;

	put_below(file, text);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	net = net_of(&root, "eth0");
	root_close(&root);
	unlink(file);
	return net.kind;
}

#define ETH0 "sys/class/net/eth0/"

/* A veth refers to another interface, has the type of Ethernet, and no interface below it. */
static void each_sign_of_a_veth_is_needed(void **state)
{
	(void)state;
	put_below(ETH0 "type", "1");
	put_below(ETH0 "ifindex", "2");
	put_below(ETH0 "iflink", "1");
	assert_int_equal(kind_here(ETH0 "uevent", "INTERFACE=eth0\n"), NET_VETH);
	assert_int_equal(kind_here(ETH0 "uevent", ""), NET_VETH);
	assert_int_equal(kind_here(ETH0 "uevent", "DEVTYPE=veth\n"), NET_VETH);
	assert_int_equal(kind_here(ETH0 "uevent", "DEVTYPE=dummy\n"), NET_VIRTUAL);
	assert_int_equal(kind_here(ETH0 "uevent", "DEVTYPE=vlan\n"), NET_VLAN);
	assert_int_equal(kind_here("proc/net/vlan/eth0", ""), NET_VLAN);
	assert_int_equal(kind_here(ETH0 "lower_eth1", ""), NET_VIRTUAL);
	assert_int_equal(kind_here(ETH0 "lower", ""), NET_VETH);
	put_text(ETH0 "iflink", "0");
	assert_int_equal(kind_here(ETH0 "x", ""), NET_VIRTUAL);
	put_text(ETH0 "iflink", "2");
	assert_int_equal(kind_here(ETH0 "x", ""), NET_VIRTUAL);
	put_text(ETH0 "iflink", "3");
	put_text(ETH0 "type", "2");
	assert_int_equal(kind_here(ETH0 "x", ""), NET_VIRTUAL);
	put_text(ETH0 "type", "772");
	assert_int_equal(kind_here(ETH0 "x", ""), NET_LOOPBACK);
	put_text(ETH0 "type", "773");
	assert_int_equal(kind_here(ETH0 "bridge", ""), NET_BRIDGE);
	assert_int_equal(kind_here(ETH0 "bonding", ""), NET_BOND);
	assert_int_equal(kind_here(ETH0 "tun_flags", ""), NET_TUN);
	assert_int_equal(kind_here(ETH0 "device", ""), NET_DEVICE);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	struct sys_class_net net;
	struct root root;
	char name[300], path[300];

	(void)state;
	/* 14 bytes for "sys/class/net/" and 241 for the name fill the room up to its NUL. */
	memset(name, 'x', sizeof name);
	name[241] = '\0';
	snprintf(path, sizeof path, "sys/class/net/%s/mtu", name);
	for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_class_net(&root, name, &net), 0);
	name[241] = 'x';
	name[242] = '\0';
	assert_int_equal(read_sys_class_net(&root, name, &net), -ENAMETOOLONG);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(identity_is_read),
		cmocka_unit_test(the_uplink_of_a_container_is_a_veth),
		cmocka_unit_test(old_unknown_speeds_are_absent),
		cmocka_unit_test(names_of_nothing_are_errors),
		cmocka_unit_test(devtype_is_found_among_others),
		unit_test_in_scratch(numbers_have_their_least_and_their_most),
		unit_test_in_scratch(each_sign_of_a_veth_is_needed),
		unit_test_in_scratch(a_name_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
