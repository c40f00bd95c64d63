/* The clocks, as one replaceable pair, so that tests can step, stop and suspend time. */
#pragma once

#include <stdint.h>

#define NSEC_PER_SEC INT64_C(1000000000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_USEC INT64_C(1000)

struct clocks {
	int64_t (*monotonic_ns)(void *context); /* CLOCK_MONOTONIC: never steps, stops in suspend */
	int64_t (*realtime_ns)(void *context);  /* CLOCK_REALTIME: may step */
	void *context;
};

extern const struct clocks SYSTEM_CLOCKS;

/* CPU time of the calling thread: the cost of its work, without the time of other threads on its CPU. 0 if the kernel refuses. */
int64_t thread_cpu_now_ns(void);

static inline double ns_to_secs(int64_t ns)
{
	return (double)ns / 1e9;
}

/* For poll(2), which takes milliseconds: rounded up, so that it never returns before the time. */
static inline int ns_to_poll_msec(int64_t ns)
{
	return (int)((ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}
