/*
 * /proc/net/route
 *
 *   Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU Window
 * IRTT eth0	00000000	010200C0	0003	0	0	100	00000000	0 0	0
 *
 * /proc/net/ipv6_route: destination, its prefix length, source, its prefix length, next hop, metric,
 * reference count, use, flags, interface
 *
 *   000...000 00 000...000 00 fd0...001 00000400 00000002 00000000 00000003     eth0
 */
#include "kernel/proc_net_route.h"

enum {
	ROUTE_UP = 0x1,
	ROUTE_REJECT = 0x200,
	ROUTE_COLUMNS = 8,
	IPV6_COLUMNS = 10,
};

struct scan parse_proc_net_route(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

struct scan parse_proc_net_ipv6_route(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static bool scan_route_columns(struct scan *line, struct scan *columns, int count)
{
	for (int i = 0; i < count; i++)
		if (!scan_word(line, &columns[i]))
			return false;
	return true;
}

/* An IPv6 address is too long for scan_hex(). */
static bool is_zeros(const struct scan *column)
{
	for (const char *at = column->at; at < column->end; at++)
		if (*at != '0')
			return false;
	return true;
}

static bool is_usable(struct scan flags_column)
{
	uint64_t flags;

	return scan_hex(&flags_column, &flags) && (flags & ROUTE_UP) && !(flags & ROUTE_REJECT);
}

bool proc_net_route_next_default(struct scan *routes, struct default_route *ret_route)
{
	struct scan line, columns[ROUTE_COLUMNS];

	while (scan_line(routes, &line)) {
		uint64_t metric;

		if (!scan_route_columns(&line, columns, ROUTE_COLUMNS) || !is_zeros(&columns[1]) ||
		    !is_zeros(&columns[7]) || !is_usable(columns[3]))
			continue;
		if (!scan_u64(&columns[6], &metric) || metric > UINT32_MAX)
			continue;
		*ret_route = (struct default_route){columns[0], (uint32_t)metric};
		return true;
	}
	return false;
}

bool proc_net_ipv6_route_next_default(struct scan *routes, struct default_route *ret_route)
{
	struct scan line, columns[IPV6_COLUMNS];

	while (scan_line(routes, &line)) {
		uint64_t metric;

		if (!scan_route_columns(&line, columns, IPV6_COLUMNS) || !is_zeros(&columns[0]) ||
		    !is_zeros(&columns[1]) || !is_usable(columns[8]))
			continue;
		if (!scan_hex(&columns[5], &metric) || metric > UINT32_MAX)
			continue;
		*ret_route = (struct default_route){columns[9], (uint32_t)metric};
		return true;
	}
	return false;
}

static int read_routes(struct root *root, const char *path, struct scan *ret_routes)
{
	ssize_t length = root_read(root, path);

	if (length < 0)
		return (int)length;
	*ret_routes = scan_bytes(root->text.data, (size_t)length);
	return 0;
}

int read_proc_net_route(struct root *root, struct scan *ret_routes)
{
	return read_routes(root, "proc/net/route", ret_routes);
}

int read_proc_net_ipv6_route(struct root *root, struct scan *ret_routes)
{
	return read_routes(root, "proc/net/ipv6_route", ret_routes);
}
