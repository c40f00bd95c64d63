/* /proc/net/dev: traffic of every network interface of the reader's network namespace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

/* Since the interface came up, -1 if absent. Some drivers of 32-bit machines wrap at 4 GiB. */
struct net_dev {
	struct scan name; /* points into the parsed text */
	int64_t receive_bytes;
	int64_t receive_packets;
	int64_t receive_errors;
	int64_t receive_drops;
	int64_t transmit_bytes;
	int64_t transmit_packets;
	int64_t transmit_errors;
	int64_t transmit_drops;
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan interfaces = parse_proc_net_dev(bytes, length);
 *   while (proc_net_dev_next(&interfaces, &interface))
 */
struct scan parse_proc_net_dev(const char *bytes, size_t length);
/* ret_interfaces points into root->text: valid until the next read. Returns 0 or a negative errno. */
int read_proc_net_dev(struct root *root, struct kept_file *file, struct scan *ret_interfaces);

bool proc_net_dev_next(struct scan *interfaces, struct net_dev *ret_interface);
