/* Makes a cgroup for the job. See own_cgroup.h. */
#include "collect/own_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "collect/cgroup_place.h"
#include "kernel/cgroup_v2.h"
#include "kernel/pid_list.h"

enum { SWEEP_ROUNDS = 20, PID_TEXT_SIZE = 24, LINKS_WITHOUT_FOLDERS = 2, MOST_OF_ONE_PROCESS = 100 };

static const char PREFIX[] = "resource-tracker-";

static bool has_limit(struct root *root, const struct cgroup_chain *chain)
{
	for (int i = 0; i < chain->depth; i++) {
		struct cgroup_v2_cpu_max cpu;
		int64_t bytes;

		if (read_cgroup_v2_cpu_max(root, chain->folders[i], &cpu) == 0 &&
		    cpu.quota_usec != CGROUP_NO_LIMIT)
			return true;
		if (read_cgroup_v2_limit(root, chain->folders[i], "memory.max", &bytes) == 0 &&
		    bytes != CGROUP_NO_LIMIT)
			return true;
	}
	return false;
}

static void write_file(int folder, const char *name, const char *text)
{
	CLEANUP_CLOSE int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

	/* Writing may be refused. Recording works without it. */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		return;
}

/* Removes the folders of trackers that were killed. A folder whose owner lives may be about to be used. */
static void sweep_leftovers(int parent)
{
	CLEANUP_ROOT_DIR struct root_dir folders = ROOT_DIR;
	struct stat status;
	const char *name;

	/* The kernel counts the folders in a folder of cgroups as links. */
	if ((fstat(parent, &status) == 0 && status.st_nlink == LINKS_WITHOUT_FOLDERS) ||
	    root_dir_open_at(parent, ".", &folders) < 0)
		return;
	while ((name = root_dir_next(&folders))) {
		struct scan text = scan_bytes(name, strlen(name));
		uint64_t owner;

		if (scan_literal(&text, PREFIX) && scan_u64(&text, &owner) && owner <= INT32_MAX &&
		    kill((pid_t)owner, 0) < 0 && errno == ESRCH)
			(void)unlinkat(parent, name, AT_REMOVEDIR);
	}
}

/*
 * A folder with our name may belong to another tracker in this process, or be left by a killed one with our
 * pid. Its counters are not our job's: take another name.
 */
RUNS_ONCE static int make_group_folder(struct own_cgroup *own)
{
	snprintf(own->name, sizeof own->name, "%s%d", PREFIX, (int)getpid());
	for (int i = 2; mkdirat(own->parent, own->name, 0755) < 0; i++) {
		if (errno != EEXIST || i > MOST_OF_ONE_PROCESS)
			return -errno;
		snprintf(own->name, sizeof own->name, "%s%d-%d", PREFIX, (int)getpid(), i);
	}
	return 0;
}

RUNS_ONCE int own_cgroup_make(struct own_cgroup *own, struct cgroup_mounts *mounts, struct root *root,
			      enum own_cgroup_mode mode)
{
	struct cgroup_place place = {.only_unified = true};
	const struct cgroup_chain *chain = &place.chains[CGROUP_UNIFIED];
	int error = !root->live || mode == OWN_CGROUP_OFF ? -EOPNOTSUPP
							  : cgroup_place_find(&place, mounts, root, 0);

	*own = OWN_CGROUP;
	if (error >= 0)
		error = !chain->depth                                       ? -EOPNOTSUPP
			: mode == OWN_CGROUP_AUTO && has_limit(root, chain) ? -EBUSY
									    : 0;
	if (error < 0)
		goto out;
	own->parent = fcntl(chain->folders[0], F_DUPFD_CLOEXEC, 3);
	if (own->parent < 0) {
		error = -errno;
		goto out;
	}
	if (mode == OWN_CGROUP_REQUIRE)
		write_file(own->parent, "cgroup.subtree_control", "+cpu +memory +io");
	error = make_group_folder(own);
	if (error < 0)
		goto out;
	own->folder = openat(own->parent, own->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = own->folder < 0 ? -errno : 0;
	own->has_memory = own->folder >= 0 && faccessat(own->folder, "memory.current", F_OK, 0) == 0;
out:
	if (error < 0 && own->parent >= 0)
		close(take_fd(&own->parent));
	cgroup_place_close(&place);
	return error;
}

static void move_out(struct own_cgroup *own, struct root *root)
{
	struct scan pids;
	pid_t pid;

	if (read_cgroup_procs(root, own->folder, &pids) < 0)
		return;
	while (scan_pid(&pids, &pid)) {
		char text[PID_TEXT_SIZE];

		snprintf(text, sizeof text, "%d", (int)pid);
		write_file(own->parent, "cgroup.procs", text);
	}
}

void own_cgroup_remove(struct own_cgroup *own, struct root *root, bool sweeps)
{
	if (own->folder < 0)
		return;
	/* Processes may fork while they are moved: repeat until the folder is empty. */
	for (int i = 0;
	     unlinkat(own->parent, own->name, AT_REMOVEDIR) < 0 && errno == EBUSY && i < SWEEP_ROUNDS; i++)
		move_out(own, root);
	if (sweeps)
		sweep_leftovers(own->parent);
	close(take_fd(&own->folder));
	close(take_fd(&own->parent));
}
