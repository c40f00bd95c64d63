/*
 * Network interfaces: /proc/net/dev at every tick, descriptions from /sys/class/net when they appear and
 * every ten seconds.
 *
 * Totals count every byte once. Hardware counts. Bridges, bonds and vlans carry the bytes of their members
 * and do not count. In a network namespace without hardware, the interface of the default route counts (a
 * container's veth).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/collector.h"
#include "kernel/proc_net_dev.h"
#include "kernel/proc_net_route.h"
#include "kernel/sys_class_net.h"
#include "metric/typed_rows.h"

#define REFRESH_NS (10 * NSEC_PER_SEC)

enum { INTERFACE_NAME_SIZE = 32 };

struct known_interface {
	char name[INTERFACE_NAME_SIZE];
	struct sys_class_net identity;
	int error; /* why the description is missing. 0: it was read */
	bool has_default_route;
	bool counted;
	bool unsure; /* it may be a bridge of the others */
	bool seen;   /* in this tick */
};

struct host_network {
	struct kept_file net_dev;
	struct known_interface *known;
	size_t count;
	int64_t next_refresh_ns;
};

static int host_network_open(struct collect_context *context, void **ret_state)
{
	struct host_network *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	state->net_dev = KEPT_FILE("proc/net/dev");
	*ret_state = state;
	return 0;
}

static struct known_interface *find_known_interface(struct host_network *state, const char *name)
{
	for (size_t i = 0; i < state->count; i++)
		if (strcmp(state->known[i].name, name) == 0)
			return &state->known[i];
	return NULL;
}

static struct known_interface *add_known_interface(struct host_network *state, const char *name)
{
	struct known_interface *known = realloc(state->known, (state->count + 1) * sizeof *known);

	if (!known)
		return NULL;
	state->known = known;
	known = &state->known[state->count++];
	*known = (struct known_interface){.error = -ENOENT};
	memcpy(known->name, name, strlen(name) + 1);
	return known;
}

static void mark_routes(struct host_network *state, struct scan routes,
			bool (*next)(struct scan *, struct default_route *))
{
	struct default_route route;

	while (next(&routes, &route)) {
		char name[INTERFACE_NAME_SIZE];
		struct known_interface *known;

		scan_copy(&route.interface, name, sizeof name);
		known = find_known_interface(state, name);
		if (known)
			known->has_default_route = true;
	}
}

static bool is_hardware(const struct host_network *state, const struct known_interface *known)
{
	if (known->error || known->identity.kind != NET_DEVICE)
		return false;
	/* The master of an accelerated interface also counts its virtual function. */
	for (size_t i = 0; i < state->count; i++)
		if (!state->known[i].error && state->known[i].identity.kind == NET_DEVICE &&
		    strcmp(state->known[i].name, known->identity.master) == 0)
			return false;
	return true;
}

static void decide_counted(struct host_network *state)
{
	bool any_hardware = false, any_route = false;

	for (size_t i = 0; i < state->count; i++) {
		state->known[i].unsure = false;
		state->known[i].counted = is_hardware(state, &state->known[i]);
		any_hardware |= state->known[i].counted;
		any_route |= state->known[i].has_default_route;
	}
	if (any_hardware)
		return;
	/*
	 * A container: its default route names the uplink. Without a route, every interface except a bridge
	 * counts.
	 */
	for (size_t i = 0; i < state->count; i++) {
		struct known_interface *known = &state->known[i];

		known->counted = any_route ? known->has_default_route : known->identity.kind != NET_BRIDGE;
		known->unsure = !any_route && known->error && state->count > 1;
	}
}

static void refresh_interfaces(struct host_network *state, struct root *root)
{
	struct scan routes;

	for (size_t i = 0; i < state->count; i++) {
		struct known_interface *known = &state->known[i];

		known->error = read_sys_class_net(root, known->name, &known->identity);
		known->has_default_route = false;
	}
	if (read_proc_net_route(root, &routes) == 0)
		mark_routes(state, routes, proc_net_route_next_default);
	if (read_proc_net_ipv6_route(root, &routes) == 0)
		mark_routes(state, routes, proc_net_ipv6_route_next_default);
	decide_counted(state);
}

static const char *interface_text_or_none(struct frame *frame, const struct known_interface *known,
					  const char *text)
{
	if (known->error)
		return no_text(known->error);
	return *text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_A_VALUE);
}

static int64_t count_or_none(const struct known_interface *known, int64_t value)
{
	if (known->error)
		return no_count(known->error);
	return value < 0 ? no_count(ABSENT_NOT_A_VALUE) : value;
}

/* Emulated cards move as many bytes as the host's memory can, whatever speed their driver tells. */
static bool is_emulated(const char *driver)
{
	static const char *const DRIVERS[] = {"virtio_net", "vmxnet3",   "e1000", "e1000e",
					      "8139cp",     "hv_netvsc", "vif",   NULL};

	for (const char *const *at = DRIVERS; *at; at++)
		if (strcmp(driver, *at) == 0)
			return true;
	return false;
}

static double most_bytes(const struct known_interface *known)
{
	return !known->error && known->identity.kind == NET_DEVICE && known->identity.speed_mbps > 0 &&
			       !is_emulated(known->identity.driver)
		       ? (double)known->identity.speed_mbps * 125000
		       : 0;
}

static void fill_interface_identity(struct host_network *state, struct frame *frame)
{
	for (struct row *at = frame->first[ROW_network]; at; at = at->next) {
		struct network_row *row = (struct network_row *)(void *)at;
		const struct known_interface *known = find_known_interface(state, row->interface);

		if (!known)
			continue;
		row->mac_address = interface_text_or_none(frame, known, known->identity.address);
		row->driver = interface_text_or_none(frame, known, known->identity.driver);
		row->operstate = interface_text_or_none(frame, known, known->identity.operstate);
		row->speed_mbps = count_or_none(known, known->identity.speed_mbps);
		row->mtu = count_or_none(known, known->identity.mtu_bytes);
		row->row.most_bytes = most_bytes(known);
		row->counted = known->unsure ? no_count(known->error) : known->counted;
	}
}

static void interface_identity_unknown(struct frame *frame)
{
	for (struct row *at = frame->first[ROW_network]; at; at = at->next) {
		struct network_row *row = (struct network_row *)(void *)at;

		row->mac_address = row->driver = row->operstate = no_text(ABSENT_NOT_YET);
		row->speed_mbps = row->mtu = row->counted = no_count(ABSENT_NOT_YET);
	}
}

/* Drops interfaces that are gone, so that a new or renamed one with the same name is described again. */
static void forget_gone_interfaces(struct host_network *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->count; i++)
		if (state->known[i].seen)
			state->known[kept++] = state->known[i];
	state->count = kept;
	for (size_t i = 0; i < state->count; i++)
		state->known[i].seen = false;
}

static void host_network_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct host_network *state = state_;
	int64_t now_ns = root_monotonic_ns(context->root), read_ns;
	bool due = now_ns >= state->next_refresh_ns;
	struct scan interfaces;
	struct net_dev device;
	int error;

	error = read_proc_net_dev(context->root, &state->net_dev, &interfaces);
	if (error < 0) {
		frame_set_missing(frame, ROW_network, error);
		return;
	}
	read_ns = root_monotonic_ns(context->root);
	/* Each network namespace has an interface, if only lo. */
	frame_set_missing(frame, ROW_network, -ENODEV);
	while (proc_net_dev_next(&interfaces, &device)) {
		struct network_row *row;
		struct known_interface *known;
		char name[INTERFACE_NAME_SIZE];

		frame_set_missing(frame, ROW_network, 0);
		if (scan_is(&device.name, "lo"))
			continue;
		scan_copy(&device.name, name, sizeof name);
		row = ADD_ROW(frame, network, NULL);
		row->row.read_ns = read_ns;
		row->interface = frame_text(frame, name, strlen(name));
		row->rx_bytes_total = device.receive_bytes < 0 ? no_count(EBADMSG) : device.receive_bytes;
		row->tx_bytes_total = device.transmit_bytes < 0 ? no_count(EBADMSG) : device.transmit_bytes;
		row->rx_bytes_counter = row->rx_bytes_total;
		row->tx_bytes_counter = row->tx_bytes_total;
		known = find_known_interface(state, name);
		if (!known) {
			known = add_known_interface(state, name);
			due = true;
		}
		if (known)
			known->seen = true;
	}
	forget_gone_interfaces(state);
	if (due && context->prepared) {
		refresh_interfaces(state, context->root);
		state->next_refresh_ns = now_ns + REFRESH_NS;
	}
	if (context->prepared)
		fill_interface_identity(state, frame);
	else
		interface_identity_unknown(frame);
}

static void host_network_prepare(void *state_, struct collect_context *context)
{
	struct host_network *state = state_;

	refresh_interfaces(state, context->root);
	state->next_refresh_ns = root_monotonic_ns(context->root) + REFRESH_NS;
}

static void host_network_close(void *state_)
{
	struct host_network *state = state_;

	kept_file_close(&state->net_dev);
	free(state->known);
	free(state);
}

const struct collector HOST_NETWORK_COLLECTOR = {
	.name = "host_network",
	.open = host_network_open,
	.collect = host_network_collect,
	.prepare = host_network_prepare,
	.close = host_network_close,
	.fills = (const enum row_kind[]){ROW_network, ROW_KINDS},
	.describes_machine = true,
};
