/* The children that the parent of an attached job's first process has waited for. See root_waiter.h. */
#include "job/programs/root_waiter.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "kernel/proc_pid_children.h"

enum { PATH_BYTES = 48, WAITER_CHILDREN_MOST = 16 };

static SELDOM bool may_wait_for_another(struct root *root, pid_t parent)
{
	pid_t pids[WAITER_CHILDREN_MOST + 1];
	struct proc_pid_stat stat;
	char path[PATH_BYTES];
	struct scan children;
	ssize_t length;
	size_t count = 0;

	snprintf(path, sizeof path, "%d/task/%d/children", (int)parent, (int)parent);
	length = root_read_at(root, root->proc_fd, path);
	if (length < 0)
		return true;
	children = parse_proc_pid_children(root->text.data, (size_t)length);
	while (count <= WAITER_CHILDREN_MOST && scan_pid(&children, &pids[count]))
		count++;
	for (size_t i = 0; i < count; i++)
		if (i == WAITER_CHILDREN_MOST ||
		    (read_proc_pid_stat(root, pids[i], &stat) == 0 && proc_pid_stat_is_exiting(&stat)))
			return true;
	return false;
}

SELDOM void root_waiter_begin(struct root_waiter *waiter, struct root *root)
{
	waiter->is_wanted = false;
	waiter->is_known = !may_wait_for_another(root, waiter->pid) &&
			   read_proc_pid_stat(root, waiter->pid, &waiter->before) == 0 &&
			   waiter->before.thread_count == 1;
}

static struct timeval time_of_growth(const struct root *root, int64_t ticks)
{
	return (struct timeval){.tv_usec = ticks * (NSEC_PER_SEC / NSEC_PER_USEC / root->clock_ticks)};
}

SELDOM bool root_waiter_has(const struct root_waiter *waiter, struct root *root, struct rusage *ret_usage)
{
	const struct proc_pid_stat *before = &waiter->before;
	struct proc_pid_stat now;

	if (!waiter->is_known || read_proc_pid_stat(root, waiter->pid, &now) < 0 ||
	    now.start_ticks != before->start_ticks)
		return false;
	*ret_usage = (struct rusage){
		.ru_utime = time_of_growth(root, now.waited_utime_ticks - before->waited_utime_ticks),
		.ru_stime = time_of_growth(root, now.waited_stime_ticks - before->waited_stime_ticks),
		.ru_minflt = now.waited_minor_faults - before->waited_minor_faults,
		.ru_majflt = now.waited_major_faults - before->waited_major_faults,
	};
	return true;
}
