/* /sys/class/net/NAME: the kind and the properties of a network interface. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"

enum net_kind {
	NET_VIRTUAL, /* none of the below: dummy, ifb, team, macvlan, vxlan, wireguard */
	NET_LOOPBACK,
	NET_DEVICE, /* hardware, or what a hypervisor presents as such */
	NET_BRIDGE,
	NET_BOND,
	NET_VLAN,
	NET_VETH, /* one end of a pair: the usual uplink of a container */
	NET_TUN,  /* tun, tap */
};

/*
 * Texts are "" and numbers -1 where the interface does not say.
 *
 * Counting every byte once: take the NET_DEVICE interfaces but not those whose master is itself one (the
 * virtual function behind an accelerated hv_netvsc or virtio_net interface is counted by its master too).
 */
struct sys_class_net {
	enum net_kind kind;
	char address[64];   /* hardware address as text; 20 bytes long for InfiniBand */
	char operstate[16]; /* "up", "down", "unknown" ... */
	char driver[32];
	char master[16]; /* the bond, bridge or team that this is a member of */
	int64_t mtu_bytes;
	int64_t speed_mbps; /* megabits; -1 also while the link is down */
	int64_t index;
	int64_t link_index; /* of the interface below, or of a veth's other end, perhaps elsewhere */
};

/*
 * Returns 0, or a negative errno when sysfs does not know the interface (ret_net is then untouched), as in a
 * container whose /sys belongs to another network namespace.
 */
int read_sys_class_net(struct root *root, const char *name, struct sys_class_net *ret_net);

/*
 * DEVTYPE of an uevent file ("vlan", "bond", "wlan"). Returns 0, or -EBADMSG when it names none (ret_type is
 * then untouched).
 */
int parse_uevent_devtype(const char *bytes, size_t length, char *ret_type, size_t size);
