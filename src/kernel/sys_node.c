/*
 * /sys/devices/system/node/node0/meminfo
 *
 *   Node 0 MemTotal:       131072000 kB
 *   Node 0 MemFree:         98304000 kB
 */
#include "kernel/sys_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"

static const struct {
	const char *key;
	size_t offset;
} LINES[] = {
	{"MemTotal", offsetof(struct node_memory, total_kib)},
	{"MemFree", offsetof(struct node_memory, free_kib)},
	{"AnonPages", offsetof(struct node_memory, anon_kib)},
	{"FilePages", offsetof(struct node_memory, file_kib)},
};

static bool take_node_line(struct scan line, struct node_memory *memory)
{
	struct scan key;
	uint64_t number, kib;

	if (!scan_literal(&line, "Node ") || !scan_u64(&line, &number) || !scan_literal(&line, " ") ||
	    !scan_until(&line, ':', &key))
		return false;
	scan_blanks(&line);
	if (!scan_u64(&line, &kib) || kib > INT64_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(LINES); i++) {
		if (!scan_is(&key, LINES[i].key))
			continue;
		*(int64_t *)(void *)((char *)memory + LINES[i].offset) = (int64_t)kib;
		return true;
	}
	return false;
}

int parse_node_meminfo(const char *bytes, size_t length, struct node_memory *ret_memory)
{
	struct scan text = scan_bytes(bytes, length), line;
	struct node_memory memory = {-1, -1, -1, -1};
	int known = 0;

	while (scan_line(&text, &line))
		known += take_node_line(line, &memory);
	if (!known)
		return -EBADMSG;
	*ret_memory = memory;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int read_sys_nodes(struct root *root, int *ret_nodes, int most)
{
	CLEANUP_ROOT_DIR struct root_dir nodes = ROOT_DIR;
	int error = root_dir_open(root, "sys/devices/system/node", &nodes), count = 0;
	const char *name;

	while (error >= 0 && count < most && (name = root_dir_next(&nodes))) {
		struct scan text = scan_bytes(name, strlen(name));
		uint64_t number;

		if (scan_literal(&text, "node") && scan_u64(&text, &number) && !scan_left(&text) &&
		    number < 4096)
			ret_nodes[count++] = (int)number;
	}
	qsort(ret_nodes, (size_t)count, sizeof *ret_nodes, by_number);
	return error < 0 ? error : count;
}

bool numa_stat_value(const char *bytes, size_t length, const char *key, int node, int64_t *ret_value)
{
	struct scan text = scan_bytes(bytes, length), line, word;
	uint64_t number, value;

	while (scan_line(&text, &line)) {
		if (!scan_word(&line, &word) || !scan_literal(&word, key) ||
		    (scan_left(&word) && !scan_literal(&word, "=")))
			continue;
		while (scan_word(&line, &word))
			if (scan_literal(&word, "N") && scan_u64(&word, &number) &&
			    number == (uint64_t)node && scan_literal(&word, "=") && scan_u64(&word, &value) &&
			    value <= INT64_MAX) {
				*ret_value = (int64_t)value;
				return true;
			}
	}
	return false;
}
