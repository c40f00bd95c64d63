/* /proc/net/sockstat: how many sockets there are, at a hundredth of the cost of a list. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* -1: unknown. */
struct proc_net_sockstat {
	int64_t sockets;    /* of all families, in this network namespace */
	int64_t tcp_in_use; /* that listen or are connected, in this network namespace */
	int64_t tcp_allocated;
	/* TCP connections that no process holds any more, but that still send or wait for an answer. */
	int64_t tcp_orphans;
};

/* Returns 0, or -EBADMSG if the line of TCP is missing (ret_sockstat is then untouched). */
int parse_proc_net_sockstat(const char *bytes, size_t length, struct proc_net_sockstat *ret_sockstat);
int read_proc_net_sockstat(struct root *root, struct kept_file *file, struct proc_net_sockstat *ret_sockstat);
