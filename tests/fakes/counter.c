/*
 * A preloaded syscall() whose counter of instructions counts page faults, because few machines for tests have a hardware counter.
 * COUNTER says what becomes of it: "counts", "denied", "absent", "late" (of a process that never calls exec), "shared" (it ran for
 * half of the time), or "kinds" (each unit has cores of its own).
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { ARGUMENTS = 6, RUNNING = 2, VALUES = 3 };

static int counter = -1;

static int has_mode(const char *mode)
{
	const char *wanted = getenv("COUNTER");

	return wanted && strcmp(wanted, mode) == 0;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[ARGUMENTS], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		struct perf_event_attr *event = (struct perf_event_attr *)a[0];

		if (has_mode("denied") || has_mode("absent")) {
			errno = has_mode("denied") ? EACCES : ENOENT;
			return -1;
		}
		event->type = PERF_TYPE_SOFTWARE;
		event->config = PERF_COUNT_SW_PAGE_FAULTS;
		if (has_mode("late"))
			a[1] = 0;
	}
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_perf_event_open)
		counter = (int)result;
	return result;
}

int access(const char *path, int mode)
{
	int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");

	return has_mode("kinds") && strstr(path, "/event_source/") ? 0 : real(path, mode);
}

ssize_t read(int fd, void *bytes, size_t size)
{
	ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	ssize_t length = real(fd, bytes, size);

	if (fd >= 0 && fd == counter && length == VALUES * sizeof(uint64_t) && has_mode("shared"))
		((uint64_t *)bytes)[RUNNING] /= 2;
	return length;
}
