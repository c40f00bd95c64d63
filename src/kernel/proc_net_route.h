/*
 * /proc/net/route and /proc/net/ipv6_route: the interfaces through which a network namespace reaches other
 * networks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

struct default_route {
	struct scan interface; /* points into the parsed text */
	uint32_t metric;       /* the lowest is used */
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan routes = parse_proc_net_route(bytes, length);
 *   while (proc_net_route_next_default(&routes, &route))
 */
struct scan parse_proc_net_route(const char *bytes, size_t length);
struct scan parse_proc_net_ipv6_route(const char *bytes, size_t length);
/* ret_routes points into root->text: valid until the next read. Return 0 or a negative errno. */
int read_proc_net_route(struct root *root, struct scan *ret_routes);
int read_proc_net_ipv6_route(struct root *root, struct scan *ret_routes);

/* Returns the next default route that is up and does not reject. */
bool proc_net_route_next_default(struct scan *routes, struct default_route *ret_route);
bool proc_net_ipv6_route_next_default(struct scan *routes, struct default_route *ret_route);
