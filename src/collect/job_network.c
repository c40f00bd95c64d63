/*
 * Traffic of the job if it has network namespaces of its own, as in a container: all bytes there belong to
 * the job. In the tracker's namespace, the job's traffic cannot be separated from that of other processes.
 *
 * /proc/PID/net/dev is readable for every user, also for another user's process. Each namespace has a file
 * (inode) of its own. An open file still works after its process has exited, so the last bytes are counted,
 * too. The file is closed at the first sample that finds the process gone, because it keeps the namespace
 * alive.
 *
 * Counting begins when a namespace is first seen. The root process is checked in each sample, the others in
 * turn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/process_usage.h"
#include "kernel/proc_net_dev.h"
#include "kernel/proc_net_route.h"

enum { NAMESPACES_MOST = 8, UPLINKS_MOST = 4, NAME_SIZE = 32, LOOKED_AT_ONCE = 8 };

struct traffic {
	int64_t received;
	int64_t sent;
};

struct job_namespace {
	ino_t id;  /* of its net/dev */
	pid_t pid; /* the member through which it was found */
	int fd;
	struct traffic before; /* at the first reading */
	struct traffic now;
	char uplinks[UPLINKS_MOST]
		    [NAME_SIZE]; /* interfaces of its default routes; none: all except lo count */
	size_t uplink_count;
};

struct job_network {
	ino_t own; /* the tracker's; 0: unknown, so no namespace can be compared with it */
	struct job_namespace namespaces[NAMESPACES_MOST];
	size_t count;
	bool seen;           /* the job was in a namespace of its own at some time */
	struct traffic past; /* of closed namespaces */
	size_t next_member;  /* the next to check */
};

static int job_network_open(struct collect_context *context, void **ret_state)
{
	struct job_network *state = calloc(1, sizeof *state);
	struct stat status;

	if (!state)
		return -ENOMEM;
	/* The files of a captured machine do not identify namespaces. */
	if (context->root->live && stat("/proc/self/net/dev", &status) == 0)
		state->own = status.st_ino;
	*ret_state = state;
	return 0;
}

static bool is_counted(const struct job_namespace *space, const struct scan *name)
{
	if (scan_is(name, "lo"))
		return false;
	for (size_t i = 0; i < space->uplink_count; i++)
		if (scan_is(name, space->uplinks[i]))
			return true;
	return space->uplink_count == 0;
}

static bool read_traffic(struct job_namespace *space, struct root *root)
{
	ssize_t length = root_pread_to_end(root, space->fd);
	struct traffic sum = {0};
	struct scan interfaces;
	struct net_dev device;

	if (length < 0)
		return false;
	interfaces = parse_proc_net_dev(root->text.data, (size_t)length);
	while (proc_net_dev_next(&interfaces, &device)) {
		if (!is_counted(space, &device.name))
			continue;
		sum.received += device.receive_bytes > 0 ? device.receive_bytes : 0;
		sum.sent += device.transmit_bytes > 0 ? device.transmit_bytes : 0;
	}
	/* A removed interface takes its count along: keep the bytes counted so far. */
	if (sum.received > space->now.received)
		space->now.received = sum.received;
	if (sum.sent > space->now.sent)
		space->now.sent = sum.sent;
	return true;
}

static void add_uplinks(struct job_namespace *space, struct scan routes,
			bool (*next)(struct scan *, struct default_route *))
{
	struct default_route route;

	while (space->uplink_count < UPLINKS_MOST && next(&routes, &route)) {
		bool known = false;

		for (size_t i = 0; i < space->uplink_count; i++)
			known |= scan_is(&route.interface, space->uplinks[i]);
		if (!known)
			scan_copy(&route.interface, space->uplinks[space->uplink_count++], NAME_SIZE);
	}
}

static void find_uplinks(struct job_namespace *space, struct root *root)
{
	ssize_t length = root_read_pid(root, space->pid, "net/route");

	if (length >= 0)
		add_uplinks(space, parse_proc_net_route(root->text.data, (size_t)length),
			    proc_net_route_next_default);
	length = root_read_pid(root, space->pid, "net/ipv6_route");
	if (length >= 0)
		add_uplinks(space, parse_proc_net_ipv6_route(root->text.data, (size_t)length),
			    proc_net_ipv6_route_next_default);
}

/* Returns 0 if the process has exited or may not be asked. */
static ino_t namespace_of(pid_t pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof path, "/proc/%d/net/dev", (int)pid);
	return stat(path, &status) < 0 ? 0 : status.st_ino;
}

static void look_at(struct job_network *state, struct root *root, pid_t pid)
{
	struct job_namespace *space = &state->namespaces[state->count];
	ino_t id = namespace_of(pid);

	if (!id || id == state->own || state->count == NAMESPACES_MOST)
		return;
	for (size_t i = 0; i < state->count; i++)
		if (state->namespaces[i].id == id)
			return;
	*space = (struct job_namespace){.id = id, .pid = pid, .fd = root_open_pid(root, pid, "net/dev", 0)};
	if (space->fd < 0)
		return;
	find_uplinks(space, root);
	if (!read_traffic(space, root)) {
		close(space->fd);
		return;
	}
	space->before = space->now;
	state->seen = true;
	state->count++;
}

static void look_at_members(struct job_network *state, struct root *root, const struct process_tree *tree)
{
	look_at(state, root, tree->root_pid);
	for (size_t i = 0; i < tree->count && i < LOOKED_AT_ONCE; i++) {
		const struct member *member = &tree->members[state->next_member++ % tree->count];

		if (member->pid != tree->root_pid && !member->is_zombie)
			look_at(state, root, member->pid);
	}
}

/* The process through which it was found has exited or moved: another member may still be there. */
static bool find_other_member(struct job_namespace *space, const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count && i < LOOKED_AT_ONCE; i++) {
		if (namespace_of(tree->members[i].pid) != space->id)
			continue;
		space->pid = tree->members[i].pid;
		return true;
	}
	return false;
}

static void read_all(struct job_network *state, struct root *root, const struct process_tree *tree)
{
	for (size_t i = state->count; i-- > 0;) {
		struct job_namespace *space = &state->namespaces[i];

		(void)read_traffic(space, root);
		if (namespace_of(space->pid) == space->id || find_other_member(space, tree))
			continue;
		state->past.received += space->now.received - space->before.received;
		state->past.sent += space->now.sent - space->before.sent;
		close(space->fd);
		*space = state->namespaces[--state->count];
	}
}

static void job_network_prepare(void *state_, struct collect_context *context)
{
	struct job_network *state = state_;

	if (state->own && context->tree)
		look_at_members(state, context->root, context->tree);
}

static void job_network_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct job_network *state = state_;
	struct tree_row *row = (struct tree_row *)(void *)frame->first[ROW_tree];
	struct traffic sum;

	if (!row || !context->tree || !state->own)
		return;
	read_all(state, context->root, context->tree);
	/* A new namespace counts from now on. After the job has ended, no more bytes can come. */
	if (!context->ending->reason)
		look_at_members(state, context->root, context->tree);
	sum = state->past;
	for (size_t i = 0; i < state->count; i++) {
		sum.received += state->namespaces[i].now.received - state->namespaces[i].before.received;
		sum.sent += state->namespaces[i].now.sent - state->namespaces[i].before.sent;
	}
	row->net_received_total = state->seen ? sum.received : no_count(ABSENT_NO_ATTRIBUTION);
	row->net_sent_total = state->seen ? sum.sent : no_count(ABSENT_NO_ATTRIBUTION);
}

static void job_network_close(void *state_)
{
	struct job_network *state = state_;

	for (size_t i = 0; i < state->count; i++)
		close(state->namespaces[i].fd);
	free(state);
}

const struct collector JOB_NETWORK_COLLECTOR = {
	.name = "job_network",
	.open = job_network_open,
	.collect = job_network_collect,
	.prepare = job_network_prepare,
	.close = job_network_close,
	.fills = (const enum row_kind[]){ROW_tree, ROW_KINDS},
};
