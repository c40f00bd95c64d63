/* Who is in the job's memory cgroup; see cgroup_tenants.h. */
#include "collect/cgroup_tenants.h"

#include <sys/stat.h>

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

/* A process that began a moment ago is not in the table yet, nor are, perhaps, its parent and grandparent. */
static bool descends_from_member(const struct process_tree *tree, pid_t pid)
{
	for (int i = 0; i < GENERATIONS_MOST; i++) {
		struct proc_pid_stat stat;

		/* It has gone: who it was cannot be told any more. */
		if (read_proc_pid_stat(tree->root, pid, &stat) < 0)
			return i == 0;
		if (process_tree_find(tree, stat.parent_pid))
			return true;
		pid = stat.parent_pid;
		if (pid <= 1)
			return false;
	}
	return false;
}

/* Whether nobody but the tree is in there; `ret_members`: somebody of it is. */
static bool holds_only_tree(const struct process_tree *tree, int folder, bool *ret_members)
{
	pid_t strangers[STRANGERS_MOST];
	size_t count = 0;
	struct scan pids;
	pid_t pid;

	if (read_cgroup_procs(tree->root, folder, &pids) < 0)
		return false;
	while (scan_pid(&pids, &pid)) {
		if (process_tree_find(tree, pid))
			*ret_members = true;
		else if (pid <= 0 || count == STRANGERS_MOST)
			return false;
		else
			strangers[count++] = pid;
	}
	for (size_t i = 0; i < count; i++)
		if (!descends_from_member(tree, strangers[i]))
			return false;
	return true;
}

void cgroup_tenants_look(struct cgroup_tenants *tenants, const struct process_tree *tree, int folder,
			 bool now)
{
	uint64_t id = id_of(folder);
	bool members = false;
	int64_t now_ns;

	if (id != tenants->id)
		*tenants = (struct cgroup_tenants){.id = id};
	if (!id || !tree || tenants->others)
		return;
	now_ns = root_monotonic_ns(tree->root);
	if (!now && now_ns < tenants->next_ns)
		return;
	tenants->next_ns = now_ns + LOOK_EVERY_NS;
	if (!holds_only_tree(tree, folder, &members))
		tenants->others = true;
	tenants->looked |= members;
}
