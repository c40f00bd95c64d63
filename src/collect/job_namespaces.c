/* Network namespaces of a job. See job_namespaces.h. */
#include "collect/job_namespaces.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "job/network/network_tuning.h"
#include "kernel/proc_net_dev.h"
#include "kernel/proc_net_route.h"

void job_namespaces_open(struct job_namespaces *state, const struct root *root)
{
	/* The files of a captured machine do not identify namespaces. */
	*state = (struct job_namespaces){.is_off = !root->live};
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
			scan_copy(&route.interface, space->uplinks[space->uplink_count++],
				  INTERFACE_NAME_SIZE);
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

/* ---- processes outside the job ---------------------------------------------------------------------------- */

static int64_t boot_clock_of(pid_t pid)
{
	struct timespec time;

	/* Computed like clock_getcpuclockid(3), without its system call. */
	if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &time) < 0)
		return -1;
	return (int64_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static bool is_other(const struct job_namespace *space, const struct process_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < space->other_count; i++)
		if (space->others[i].pid == pid)
			return false;
	return !process_tree_find(tree, pid) && namespace_of(pid) == space->id;
}

static void find_others(struct job_namespace *space, const struct process_tree *tree)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	int64_t begun_ns = thread_cpu_now_ns(), now_ns = root_monotonic_ns(tree->root);
	const char *name;

	if (space->is_shared || now_ns < space->look_ns ||
	    root_dir_open_at(tree->root->proc_fd, ".", &dir) < 0)
		return;
	while ((name = root_dir_next(&dir))) {
		struct scan digits = scan_bytes(name, strlen(name));
		uint64_t pid;

		if (!scan_u64(&digits, &pid) || pid > INT32_MAX || !is_other(space, tree, (pid_t)pid))
			continue;
		if (space->other_count == OTHERS_MOST) {
			space->is_shared = true;
			return;
		}
		space->others[space->other_count++] = (struct other){(pid_t)pid, boot_clock_of((pid_t)pid)};
	}
	space->look_ns =
		now_ns + max_i64(OTHERS_EVERY_NS, OTHERS_COST_FACTOR * (thread_cpu_now_ns() - begun_ns));
}

/* A process that only sleeps, as the one that holds the namespace of a pod, has no traffic. */
static void look_whether_others_ran(struct job_namespace *space)
{
	for (size_t i = 0; i < space->other_count; i++)
		space->is_shared |= boot_clock_of(space->others[i].pid) != space->others[i].clock_ns;
}

/* ---- all namespaces --------------------------------------------------------------------------------------- */

static void look_at(struct job_namespaces *state, const struct process_tree *tree, pid_t pid)
{
	struct root *root = tree->root;
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
	space->before = space->counted = space->now;
	find_others(space, tree);
	state->seen = true;
	state->count++;
}

void job_namespaces_look(struct job_namespaces *state, const struct process_tree *tree)
{
	if (!state->own && !state->is_off) {
		state->own = namespace_of(getpid());
		state->is_off = !state->own;
	}
	if (state->is_off)
		return;
	look_at(state, tree, tree->root_pid);
	for (size_t i = 0; i < tree->count && i < NAMESPACES_LOOKED_AT; i++) {
		const struct member *member = &tree->members[state->next_member++ % tree->count];

		if (member->pid != tree->root_pid && !member->is_zombie)
			look_at(state, tree, member->pid);
	}
}

/* The process through which it was found has exited or moved: another member may still be there. */
static bool find_other_member(struct job_namespace *space, const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count && i < NAMESPACES_LOOKED_AT; i++) {
		if (namespace_of(tree->members[i].pid) != space->id)
			continue;
		space->pid = tree->members[i].pid;
		return true;
	}
	return false;
}

static void take_traffic(struct job_namespace *space, const struct process_tree *tree)
{
	(void)read_traffic(space, tree->root);
	look_whether_others_ran(space);
	find_others(space, tree);
	if (!space->is_shared)
		space->counted = space->now;
}

static struct traffic traffic_since(const struct traffic *before, const struct traffic *now)
{
	return (struct traffic){now->received - before->received, now->sent - before->sent};
}

static void add_traffic(struct traffic *sum, const struct traffic *before, const struct traffic *now)
{
	struct traffic more = traffic_since(before, now);

	sum->received += more.received;
	sum->sent += more.sent;
}

void job_namespaces_read(struct job_namespaces *state, const struct process_tree *tree)
{
	for (size_t i = state->count; i-- > 0;) {
		struct job_namespace *space = &state->namespaces[i];

		take_traffic(space, tree);
		if (namespace_of(space->pid) == space->id || find_other_member(space, tree))
			continue;
		add_traffic(&state->past, &space->before, &space->counted);
		add_traffic(&state->past_shared, &space->counted, &space->now);
		close(space->fd);
		*space = state->namespaces[--state->count];
	}
}

void job_namespaces_total(const struct job_namespaces *state, struct traffic *ret_known,
			  struct traffic *ret_shared)
{
	*ret_known = state->past;
	*ret_shared = state->past_shared;
	for (size_t i = 0; i < state->count; i++) {
		const struct job_namespace *space = &state->namespaces[i];

		add_traffic(ret_known, &space->before, &space->counted);
		add_traffic(ret_shared, &space->counted, &space->now);
	}
}

void job_namespaces_close(struct job_namespaces *state)
{
	for (size_t i = 0; i < state->count; i++)
		close(state->namespaces[i].fd);
}
