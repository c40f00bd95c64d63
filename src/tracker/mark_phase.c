/* Phases of a job, marked by the job itself. format/mark_line.h describes the file. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format/mark_line.h"
#include "resource_tracker.h"

struct rt_marks {
	int fd;
	_Atomic uint32_t last;
	char host[sizeof(((struct utsname *)NULL)->nodename)];
};

int rt_marks_open(const char *path, rt_marks **ret_marks)
{
	rt_marks *marks = calloc(1, sizeof(*marks));
	struct utsname system;

	if (!marks)
		return -ENOMEM;
	marks->fd = mark_open(path ? path : secure_getenv("RESOURCE_TRACKER_MARKS"));
	if (marks->fd < 0) {
		int error = marks->fd;

		free(marks);
		return error;
	}
	if (uname(&system) == 0)
		snprintf(marks->host, sizeof(marks->host), "%s", system.nodename);
	*ret_marks = marks;
	return 0;
}

void rt_marks_close(rt_marks *marks)
{
	if (!marks)
		return;
	close(marks->fd);
	free(marks);
}

/* The starting process's pid is part of the number: a child may stop a phase that its parent started. */
static int write_mark(const rt_marks *marks, pid_t pid, const char *name, int64_t number, bool start)
{
	char id[48];
	struct mark mark = {.event = start ? MARK_START : MARK_STOP,
			    .name = name,
			    .id = id,
			    .pid = pid,
			    .host = marks->host};

	snprintf(id, sizeof(id), "%lld-%lld", (long long)(number >> 32), (long long)(number & UINT32_MAX));
	return mark_write(marks->fd, &mark);
}

int64_t rt_mark_start(rt_marks *marks, const char *name)
{
	pid_t pid = getpid();
	int64_t number;
	int result;

	if (!marks)
		return 0;
	number =
		((int64_t)pid << 32) | (atomic_fetch_add_explicit(&marks->last, 1, memory_order_relaxed) + 1);
	result = write_mark(marks, pid, name, number, true);
	return result < 0 ? result : number;
}

int rt_mark_stop(rt_marks *marks, const char *name, int64_t number)
{
	if (!marks || number == 0)
		return 0;
	return number < 0 ? -EINVAL : write_mark(marks, getpid(), name, number, false);
}
