/* The tracker's share of a program that tracks itself. See own_cost.h. */
#include "job/cpu/own_cost.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/proc_pid_io.h"

/* Takes the I/O out of a reading of `length` bytes, or a negative errno, which it returns. */
static ssize_t take_own_io(const struct root *root, ssize_t length, struct usages *ret_io)
{
	struct proc_pid_io io;

	if (length < 0)
		return length;
	if (parse_proc_pid_io(root->text.data, (size_t)length, &io) < 0)
		return -EBADMSG;
	*ret_io = (struct usages){0};
	usages_of_io(&io, ret_io);
	return length;
}

/* Leaves `ret_io` as it is if the file cannot be read. */
static void read_thread_io(struct root *root, pid_t tid, struct usages *ret_io)
{
	char path[64];

	snprintf(path, sizeof path, "proc/self/task/%d/io", (int)tid);
	if (root->live)
		(void)take_own_io(root, root_read(root, path), ret_io);
}

int own_cost_read_io(struct root *root, struct kept_file *file, struct usages *ret_io)
{
	return (int)take_own_io(root, root->live ? root_reread(root, file) : -ENOENT, ret_io);
}

/* The counters of this thread. Its clock tells the CPU time more exactly. */
static struct usages thread_rest(const struct own_cost *cost, struct root *root)
{
	struct usages usages = {0};
	struct rusage usage;

	if (cost->with_io)
		read_thread_io(root, (pid_t)syscall(SYS_gettid), &usages);
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		struct usages counted = usages_of_rusage(&usage);

		usages_add(&usages, &counted);
	}
	return usages;
}

void own_cost_begin(struct own_cost *cost, struct root *root)
{
	if (cost->running)
		return;
	cost->begun = thread_rest(cost, root);
	cost->begun.of[USAGE_CPU_NS] = thread_cpu_now_ns();
	cost->running = true;
}

int64_t own_cost_cpu_ns(const struct own_cost *cost)
{
	int64_t spent_ns = cost->spent.of[USAGE_CPU_NS];

	return cost->running ? spent_ns + thread_cpu_now_ns() - cost->begun.of[USAGE_CPU_NS] : spent_ns;
}

struct usages own_cost_rest(const struct own_cost *cost, struct root *root)
{
	struct usages rest = cost->spent, now;

	rest.of[USAGE_CPU_NS] = 0;
	if (!cost->running)
		return rest;
	now = thread_rest(cost, root);
	for (enum usage i = USAGE_UTIME_NS; i < USAGE_COUNT; i++)
		rest.of[i] += now.of[i] - cost->begun.of[i];
	return rest;
}

void own_cost_end(struct own_cost *cost, struct root *root)
{
	struct usages spent = own_cost_rest(cost, root);

	spent.of[USAGE_CPU_NS] = own_cost_cpu_ns(cost);
	cost->spent = spent;
	cost->running = false;
}
