/* The system's clocks. See clock.h. */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec now = {0};

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static int64_t system_monotonic_ns(void *context)
{
	(void)context;
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t system_realtime_ns(void *context)
{
	(void)context;
	return read_clock(CLOCK_REALTIME);
}

int64_t thread_cpu_now_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

const struct clocks SYSTEM_CLOCKS = {system_monotonic_ns, system_realtime_ns, NULL};
