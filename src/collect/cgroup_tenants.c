/* Finds the processes that share the job's memory cgroup. See cgroup_tenants.h. */
#include "collect/cgroup_tenants.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/cgroup_v2.h"
#include "kernel/pid_list.h"
#include "kernel/proc_pid_stat.h"

#define LOOK_EVERY_NS NSEC_PER_SEC

enum { STRANGERS_MOST = 64, GENERATIONS_MOST = 8 };

static uint64_t id_of(int folder)
{
	struct stat status;

	if (folder < 0 || fstat(folder, &status) < 0)
		return 0;
	return (uint64_t)status.st_dev << 32 ^ (uint64_t)status.st_ino;
}

enum tenant {
	TENANT_OF_TREE,
	TENANT_OF_TRACKER, /* one of its helpers */
	TENANT_STRANGER,
};

/* Lists the ancestors of the tracker, the nearest first. Returns their number. */
static size_t list_parents(const struct process_tree *tree, pid_t *ret_parents)
{
	pid_t pid = getpid();
	size_t count = 0;

	while (count < TENANT_PARENTS_MOST) {
		struct proc_pid_stat stat;

		if (read_proc_pid_stat(tree->root, pid, &stat) < 0 || stat.parent_pid <= 0)
			break;
		pid = ret_parents[count++] = stat.parent_pid;
	}
	return count;
}

/* A process that has just begun is not in the table yet. Its parent and grandparent may be missing, too. */
static enum tenant descent_of(const struct tenants_viewer *viewer, pid_t pid)
{
	for (int i = 0; i < GENERATIONS_MOST; i++) {
		struct proc_pid_stat stat;

		if (process_tree_find(viewer->tree, pid))
			return TENANT_OF_TREE;
		if (!viewer->in_program && process_tree_excludes(viewer->tree, pid))
			return TENANT_OF_TRACKER;
		/* It has exited: its ancestors are unknown now. */
		if (read_proc_pid_stat(viewer->tree->root, pid, &stat) < 0)
			return i == 0 ? TENANT_OF_TREE : TENANT_STRANGER;
		pid = stat.parent_pid;
		if (pid <= 1)
			break;
	}
	return TENANT_STRANGER;
}

struct crowd {
	pid_t pids[STRANGERS_MOST];
	size_t count;
	bool members; /* members of the tree were among them */
	bool unknown; /* there are more, or one that has no pid in this namespace */
};

/* Lists all processes in the cgroup, except members and the tracker. */
static int list_crowd(const struct process_tree *tree, int folder, struct crowd *ret_crowd)
{
	const pid_t own = getpid();
	struct scan pids;
	pid_t pid;
	int error = read_cgroup_procs(tree->root, folder, &pids);

	*ret_crowd = (struct crowd){.count = 0};
	while (error == 0 && scan_pid(&pids, &pid)) {
		if (process_tree_find(tree, pid))
			ret_crowd->members = true;
		else if (pid <= 0 || ret_crowd->count == STRANGERS_MOST)
			ret_crowd->unknown = true;
		else if (pid != own)
			ret_crowd->pids[ret_crowd->count++] = pid;
	}
	return error;
}

/* Remembers the parents that are in the cgroup now. Returns false if one that was seen before is missing. */
static bool keep_parents(struct cgroup_tenants *tenants, const struct crowd *crowd, const pid_t *parents,
			 size_t parent_count)
{
	for (size_t i = 0; i < tenants->parent_count; i++)
		if (!pid_list_has(crowd->pids, crowd->count, tenants->parents[i]))
			return false;
	for (size_t i = 0; i < parent_count; i++) {
		if (!pid_list_has(crowd->pids, crowd->count, parents[i]) ||
		    pid_list_has(tenants->parents, tenants->parent_count, parents[i]))
			continue;
		if (tenants->parent_count == TENANT_PARENTS_MOST)
			return false;
		tenants->parents[tenants->parent_count++] = parents[i];
	}
	return true;
}

/* Whether all that are there are helpers of the tracker and the parents that an earlier look has found, so that none need be read. */
static bool is_known_crowd(const struct cgroup_tenants *tenants, const struct tenants_viewer *viewer,
			   const struct crowd *crowd)
{
	size_t parents = 0;

	for (size_t i = 0; i < crowd->count; i++) {
		if (pid_list_has(tenants->parents, tenants->parent_count, crowd->pids[i]))
			parents++;
		else if (viewer->in_program || !process_tree_excludes(viewer->tree, crowd->pids[i]))
			return false;
	}
	return parents == tenants->parent_count;
}

/* Whether a stranger is in the cgroup, or a parent of the tracker has left it. */
static bool finds_others(struct cgroup_tenants *tenants, const struct tenants_viewer *viewer, int folder)
{
	pid_t parents[TENANT_PARENTS_MOST];
	size_t parent_count;
	struct crowd crowd;

	if (list_crowd(viewer->tree, folder, &crowd) < 0 || crowd.unknown)
		return true;
	tenants->looked |= crowd.members;
	if (!crowd.count)
		return tenants->parent_count > 0;
	if (is_known_crowd(tenants, viewer, &crowd))
		return false;
	parent_count = list_parents(viewer->tree, parents);
	for (size_t i = 0; i < crowd.count; i++)
		if (!pid_list_has(parents, parent_count, crowd.pids[i]) &&
		    descent_of(viewer, crowd.pids[i]) == TENANT_STRANGER)
			return true;
	return !keep_parents(tenants, &crowd, parents, parent_count);
}

void cgroup_tenants_look(struct cgroup_tenants *tenants, const struct tenants_viewer *viewer, int folder,
			 bool now)
{
	uint64_t id = id_of(folder);
	int64_t now_ns;

	if (id != tenants->id)
		*tenants = (struct cgroup_tenants){.id = id};
	if (!id || !viewer->tree || tenants->others)
		return;
	/* If no look was in time to see a member there, it stays unknown who else was. */
	if (!tenants->looked && !process_tree_running(viewer->tree))
		return;
	now_ns = root_monotonic_ns(viewer->tree->root);
	if (!now && now_ns < tenants->next_ns)
		return;
	tenants->next_ns = now_ns + LOOK_EVERY_NS;
	tenants->others = finds_others(tenants, viewer, folder);
}
