/* One-shot readers: answer a question about a process or the machine without a tracker. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/sized.h"
#include "collect/collector.h"
#include "job/pass.h"
#include "collect/machine_summary.h"
#include "kernel/proc_pid_io.h"
#include "kernel/proc_pid_smaps_rollup.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/proc_pid_statm.h"
#include "kernel/sys_block.h"

#include "resource_tracker.h"

static void close_root(struct root *root)
{
	root_close(root);
}
#define CLEANUP_ROOT __attribute__((cleanup(close_root)))
#define CLOSED_ROOT \
	{ \
		.dir_fd = -1, .proc_fd = -1 \
	}

/* Turns every error of a process that has just exited into "no such process", whichever file reported it. */
static int as_process_error(int error)
{
	return error == -ENOENT ? -ESRCH : error;
}

ssize_t rt_process_descendants(pid_t pid, pid_t **ret_pids)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct process_tree *tree = NULL;
	pid_t *pids;
	size_t count = 0;
	int error = root_open(&root, NULL, NULL);

	if (!error)
		error = process_tree_new(&root, true, &tree);
	if (!error)
		error = process_tree_seed(tree, pid, false);
	if (error < 0) {
		process_tree_free(tree);
		return error;
	}
	pids = malloc((tree->count + 1) * sizeof *pids);
	for (size_t i = 0; pids && i < tree->count; i++)
		if (tree->members[i].pid != pid)
			pids[count++] = tree->members[i].pid;
	process_tree_free(tree);
	if (!pids)
		return -ENOMEM;
	*ret_pids = pids;
	return (ssize_t)count;
}

int rt_process_rss(pid_t pid, int64_t *ret_bytes)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct proc_pid_statm statm;
	int error = root_open(&root, NULL, NULL);

	if (!error)
		error = as_process_error(read_proc_pid_statm(&root, pid, &statm));
	if (!error)
		*ret_bytes = statm.resident_pages * root.page_bytes;
	return error;
}

int rt_process_pss(pid_t pid, int64_t *ret_bytes)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct proc_pid_smaps_rollup rollup;
	int error = root_open(&root, NULL, NULL);

	if (!error)
		error = as_process_error(read_proc_pid_smaps_rollup(&root, pid, &rollup));
	if (!error && rollup.pss_kib < 0)
		error = -ENODATA;
	if (!error)
		*ret_bytes = rollup.pss_kib * 1024;
	return error;
}

int rt_process_times(pid_t pid, bool with_waited, double *ret_user_secs, double *ret_system_secs)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct proc_pid_stat stat;
	int error = root_open(&root, NULL, NULL);

	if (!error)
		error = as_process_error(read_proc_pid_stat(&root, pid, &stat));
	if (error < 0)
		return error;
	*ret_user_secs = (double)(stat.utime_ticks + (with_waited ? stat.waited_utime_ticks : 0)) /
			 (double)root.clock_ticks;
	*ret_system_secs = (double)(stat.stime_ticks + (with_waited ? stat.waited_stime_ticks : 0)) /
			   (double)root.clock_ticks;
	return 0;
}

int rt_process_io(pid_t pid, int64_t *ret_read_bytes, int64_t *ret_written_bytes)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct proc_pid_io io;
	int error = root_open(&root, NULL, NULL);

	if (!error)
		error = as_process_error(read_proc_pid_io(&root, pid, &io));
	if (!error && (io.read_bytes < 0 || io.write_bytes < 0))
		error = -ENODATA;
	if (error < 0)
		return error;
	*ret_read_bytes = io.read_bytes;
	*ret_written_bytes = io.write_bytes;
	return 0;
}

static void add_known_count(int64_t *sum, int64_t value)
{
	*sum = (*sum < 0 ? 0 : *sum) + value;
}

static void add_to_process(struct rt_process *sum, pid_t pid)
{
	double user_secs, system_secs;
	int64_t bytes, written;

	if (rt_process_times(pid, true, &user_secs, &system_secs) == 0) {
		sum->user_secs = (isnan(sum->user_secs) ? 0 : sum->user_secs) + user_secs;
		sum->system_secs = (isnan(sum->system_secs) ? 0 : sum->system_secs) + system_secs;
	}
	if (rt_process_rss(pid, &bytes) == 0)
		add_known_count(&sum->rss_bytes, bytes);
	if (rt_process_pss(pid, &bytes) == 0)
		add_known_count(&sum->pss_bytes, bytes);
	if (rt_process_io(pid, &bytes, &written) == 0) {
		add_known_count(&sum->read_bytes, bytes);
		add_known_count(&sum->written_bytes, written);
	}
}

int rt_process_read(pid_t pid, bool children, struct rt_process *ret_process)
{
	struct rt_process process = {
		.size = sizeof process,
		.realtime_secs = ns_to_secs(SYSTEM_CLOCKS.realtime_ns(NULL)),
		.pid = pid,
		.user_secs = NAN,
		.system_secs = NAN,
		.rss_bytes = -1,
		.pss_bytes = -1,
		.read_bytes = -1,
		.written_bytes = -1,
	};
	pid_t *descendants = NULL;
	ssize_t count = rt_process_descendants(pid, &descendants);

	if (count < 0)
		return (int)count;
	process.child_count = count;
	add_to_process(&process, pid);
	for (ssize_t i = 0; children && i < count; i++)
		add_to_process(&process, descendants[i]);
	free(descendants);
	return copy_sized(ret_process, &process, sizeof process,
			  SIZE_UP_TO(struct rt_process, written_bytes));
}

/* Runs the collectors that fill the machine's rows once. */
static void collect_machine(struct root *root, struct frame *frame)
{
	static const struct run_facts NO_FACTS = {.rank = -1};
	static const struct run_ending NO_ENDING = {0};
	struct cgroup_mounts mounts = {.known = false};
	struct collect_context context = {
		.root = root,
		.cgroup_mounts = &mounts,
		.facts = &NO_FACTS,
		.ending = &NO_ENDING,
		.prepared = true,
	};

	frame_begin(frame, root_monotonic_ns(root), root_realtime_ns(root));
	for (size_t i = 0; COLLECTORS[i]; i++) {
		void *state;

		if (!COLLECTORS[i]->describes_machine || COLLECTORS[i]->open(&context, &state) < 0)
			continue;
		if (COLLECTORS[i]->prepare)
			COLLECTORS[i]->prepare(state, &context);
		COLLECTORS[i]->collect(state, &context, frame);
		COLLECTORS[i]->close(state);
	}
	cgroup_mounts_done(&mounts);
}

int rt_system_read(struct rt_system *ret_system)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	struct frame frame = {0};
	struct rt_system system;
	int error = root_open(&root, NULL, NULL);

	if (error < 0)
		return error;
	collect_machine(&root, &frame);
	error = frame.error;
	if (!error) {
		machine_summary(&frame, &system);
		error = copy_sized(ret_system, &system, sizeof system,
				   SIZE_UP_TO(struct rt_system, network_sent_bytes));
	}
	frame_done(&frame);
	return error;
}

int rt_disk_is_partition(const char *device)
{
	CLEANUP_ROOT struct root root = CLOSED_ROOT;
	int error = root_open(&root, NULL, NULL);

	return error < 0 ? error : sys_block_is_partition(&root, device);
}
