/* /sys/devices/system/node: memory by NUMA node, and a cgroup's part of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* nodeN/meminfo, -1 if absent. */
struct node_memory {
	int64_t total_kib;
	int64_t free_kib;
	int64_t anon_kib; /* in page tables */
	int64_t file_kib; /* page cache, shared memory included */
};

/* Returns 0, or -EBADMSG if no line is known (ret_memory is then untouched). */
int parse_node_meminfo(const char *bytes, size_t length, struct node_memory *ret_memory);

/* Lists the numbers of the nodes with memory or CPUs, in their order. Returns how many, or a negative errno. */
int read_sys_nodes(struct root *root, int *ret_nodes, int most);

/*
 * The line `key` of a cgroup's memory.numa_stat: "anon N0=4096 N1=0" (version 2, bytes), or "hierarchical_anon=3 N0=1 N1=2"
 * (version 1, pages). Returns false without this line or this node in it.
 */
bool numa_stat_value(const char *bytes, size_t length, const char *key, int node, int64_t *ret_value);
