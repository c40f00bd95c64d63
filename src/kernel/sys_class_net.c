/*
 * /sys/class/net/NAME -> ../../devices/pci0000:00/0000:00:03.0/virtio0/net/eth0
 *
 *   address     02:00:00:aa:bb:cc
 *   speed       1000                 reading fails while the link is down, -1 if unknown
 *   ifindex iflink                   differ for vlan, macvlan, veth
 *   type        1                    772: loopback
 *   uevent      DEVTYPE=vlan         not for hardware, nor for veth
 *   device/driver -> ../../../../bus/virtio/drivers/virtio_net
 *   master -> ../bond0
 *   bridge/ bonding/ tun_flags lower_NAME
 */
#include "kernel/sys_class_net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "base/scan.h"

enum { ARPHRD_ETHERNET = 1, ARPHRD_LOOPBACK = 772, NAME_SIZE = 256 };

/* Drivers reported this for "unknown" while the kernel kept a speed in 16 bits. */
enum { OLD_UNKNOWN_SPEED = 65535 };

int parse_uevent_devtype(const char *bytes, size_t length, char *ret_type, size_t size)
{
	struct scan text = scan_bytes(bytes, length), line;

	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, "DEVTYPE=") || !scan_left(&line))
			continue;
		scan_copy(&line, ret_type, size);
		return 0;
	}
	return -EBADMSG;
}

static bool has_lower(int dir_fd)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	const char *name;

	if (root_dir_open_at(dir_fd, ".", &dir) < 0)
		return false;
	while ((name = root_dir_next(&dir)))
		if (strncmp(name, "lower_", 6) == 0)
			return true;
	return false;
}

static bool has_devtype(struct root *root, int dir_fd, char *ret_type, size_t size)
{
	ssize_t length = root_read_at(root, dir_fd, "uevent");

	return length > 0 && parse_uevent_devtype(root->text.data, (size_t)length, ret_type, size) == 0;
}

/* sysfs does not name a veth: it is an interface that refers to another one and is not above it. */
static bool is_veth(struct root *root, int dir_fd, const struct sys_class_net *net, int64_t type)
{
	char devtype[32];

	if (has_devtype(root, dir_fd, devtype, sizeof devtype))
		return strcmp(devtype, "veth") == 0;
	return type == ARPHRD_ETHERNET && net->link_index > 0 && net->index != net->link_index &&
	       !has_lower(dir_fd);
}

static bool is_vlan(struct root *root, int dir_fd, const char *name)
{
	char devtype[32], path[NAME_SIZE];

	if (has_devtype(root, dir_fd, devtype, sizeof devtype))
		return strcmp(devtype, "vlan") == 0;
	/* As long as the path below sys/class/net. */
	snprintf(path, sizeof path, "proc/net/vlan/%s", name);
	return root_exists(root, path);
}

static enum net_kind find_interface_kind(struct root *root, int dir_fd, const char *name,
					 const struct sys_class_net *net)
{
	int64_t type = -1;

	(void)root_read_i64_at(root, dir_fd, "type", &type);
	if (type == ARPHRD_LOOPBACK)
		return NET_LOOPBACK;
	if (root_exists_at(dir_fd, "bridge"))
		return NET_BRIDGE;
	if (root_exists_at(dir_fd, "bonding"))
		return NET_BOND;
	if (root_exists_at(dir_fd, "tun_flags"))
		return NET_TUN;
	if (is_vlan(root, dir_fd, name))
		return NET_VLAN;
	if (root_exists_at(dir_fd, "device"))
		return NET_DEVICE;
	return is_veth(root, dir_fd, net, type) ? NET_VETH : NET_VIRTUAL;
}

static int64_t read_interface_number(struct root *root, int dir_fd, const char *file)
{
	int64_t value;

	return root_read_i64_at(root, dir_fd, file, &value) == 0 && value >= 0 ? value : -1;
}

static int64_t read_speed(struct root *root, int dir_fd)
{
	int64_t speed = read_interface_number(root, dir_fd, "speed");

	return speed == 0 || speed == OLD_UNKNOWN_SPEED || speed > INT32_MAX ? -1 : speed;
}

RUNS_ONCE int read_sys_class_net(struct root *root, const char *name, struct sys_class_net *ret_net)
{
	char path[NAME_SIZE];
	int length = snprintf(path, sizeof path, "sys/class/net/%s", name);
	CLEANUP_CLOSE int dir_fd = -1;
	struct sys_class_net net = {0};

	if (!*name || strchr(name, '/') || *name == '.')
		return -ENOENT;
	if ((size_t)length >= sizeof path)
		return -ENAMETOOLONG;
	dir_fd = root_open_file(root, path, O_DIRECTORY);
	if (dir_fd < 0)
		return dir_fd;
	(void)root_read_word_at(root, dir_fd, "address", net.address, sizeof net.address);
	(void)root_read_word_at(root, dir_fd, "operstate", net.operstate, sizeof net.operstate);
	(void)root_link_name_at(dir_fd, "device/driver", net.driver, sizeof net.driver);
	(void)root_link_name_at(dir_fd, "master", net.master, sizeof net.master);
	net.mtu_bytes = read_interface_number(root, dir_fd, "mtu");
	net.speed_mbps = read_speed(root, dir_fd);
	net.index = read_interface_number(root, dir_fd, "ifindex");
	net.link_index = read_interface_number(root, dir_fd, "iflink");
	net.kind = find_interface_kind(root, dir_fd, name, &net);
	*ret_net = net;
	return 0;
}
