/*
 * Memory by NUMA node, on machines with more than one (rows of numa): the machine's, and that of the job's control group. The
 * kernel does not tell an ordinary process's part without walking its page tables (numa_maps), which would stall it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "kernel/sys_node.h"
#include "metric/typed_rows.h"

enum { NODES_MOST = 64, PATH_SIZE = 64 };

struct numa {
	int nodes[NODES_MOST];
	int count;
	int error; /* why the number of nodes is unknown. 0: it is known */
	struct kept_file files[NODES_MOST];
	char paths[NODES_MOST][PATH_SIZE];
};

static int numa_open(struct collect_context *context, void **ret_state)
{
	if (context->selection && !context->selection->kinds[ROW_numa])
		return -ENOTSUP;
	*ret_state = calloc(1, sizeof(struct numa));
	return *ret_state ? 0 : -ENOMEM;
}

/* No value of a node depends on an earlier one, so the nodes can wait until the job has started. */
static void numa_prepare(void *state_, struct collect_context *context)
{
	struct numa *state = state_;
	int count = read_sys_nodes(context->root, state->nodes, NODES_MOST);

	state->count = count > 1 ? count : 0;
	/* A kernel for machines with one node has no such folder. */
	state->error = count < 0 && !root_exists(context->root, "sys/devices/system") ? count : 0;
	for (int i = 0; i < state->count; i++) {
		snprintf(state->paths[i], PATH_SIZE, "sys/devices/system/node/node%d/meminfo",
			 state->nodes[i]);
		state->files[i] = KEPT_FILE(state->paths[i]);
	}
}

static double node_mib_of_kib(int64_t kib)
{
	return kib < 0 ? no_real(ABSENT_NO_SUCH_COUNTER) : (double)kib / 1024;
}

static void fill_node(struct numa *state, int i, struct root *root, struct frame *frame)
{
	struct numa_row *row = ADD_ROW(frame, numa, NULL);
	ssize_t length = root_reread_to_end(root, &state->files[i]);
	struct node_memory memory;
	char name[PATH_SIZE];

	snprintf(name, sizeof name, "node%d", state->nodes[i]);
	row->node = frame_text(frame, name, strlen(name));
	if (length >= 0)
		length = parse_node_meminfo(root->text.data, (size_t)length, &memory);
	if (length < 0) {
		row->total_mib = row->free_mib = row->anon_mib = row->file_mib = no_real((int)length);
		return;
	}
	row->total_mib = node_mib_of_kib(memory.total_kib);
	row->free_mib = node_mib_of_kib(memory.free_kib);
	row->anon_mib = node_mib_of_kib(memory.anon_kib);
	row->file_mib = node_mib_of_kib(memory.file_kib);
}

static double group_mib(const struct root *root, ssize_t length, bool is_v2, const char *const keys[2],
			int node)
{
	int64_t value;

	if (length < 0)
		return no_real(length == -ENOENT ? ABSENT_NO_SUCH_COUNTER : (int)length);
	if (!numa_stat_value(root->text.data, (size_t)length, keys[is_v2], node, &value))
		return no_real(ABSENT_NO_SUCH_COUNTER);
	return (double)value * (is_v2 ? 1 : (double)root->page_bytes) / 1048576;
}

static void fill_group(const struct numa *state, const struct collect_context *context, struct frame *frame)
{
	static const char *const ANON[2] = {"hierarchical_anon", "anon"}, *const CACHE[2] = {
										  "hierarchical_file",
										  "file"};
	struct numa_row *row = (struct numa_row *)(void *)frame->first[ROW_numa];
	bool is_v2 = context->place && !context->place->chains[CGROUP_MEMORY].depth;
	ssize_t length = context->place && context->memory_folder >= 0
				 ? root_read_at(context->root, context->memory_folder, "memory.numa_stat")
				 : -ENOENT;

	for (int i = 0; i < state->count && row; i++, row = (struct numa_row *)(void *)row->row.next) {
		row->cgroup_anon_mib = group_mib(context->root, length, is_v2, ANON, state->nodes[i]);
		row->cgroup_file_mib = group_mib(context->root, length, is_v2, CACHE, state->nodes[i]);
	}
}

static void numa_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct numa *state = state_;

	if (state->error)
		frame_set_missing(frame, ROW_numa, state->error);
	for (int i = 0; i < state->count; i++)
		fill_node(state, i, context->root, frame);
	if (state->count)
		fill_group(state, context, frame);
}

static void numa_close(void *state_)
{
	struct numa *state = state_;

	for (int i = 0; i < state->count; i++)
		kept_file_close(&state->files[i]);
	free(state);
}

const struct collector NUMA_COLLECTOR = {
	.name = "numa",
	.open = numa_open,
	.prepare = numa_prepare,
	.collect = numa_collect,
	.close = numa_close,
	.fills = (const enum row_kind[]){ROW_numa, ROW_KINDS},
};
