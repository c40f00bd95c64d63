/*
 * Whether the kernel has told of all TCP connections that have ended.
 *
 * The kernel sends the notification of an end from a work queue. Each CPU works off its own ends in their order, and on a
 * busy machine it does so many milliseconds later. A fence is a socket that is made and ended on one CPU: when its
 * notification comes, all earlier ones of that CPU have come.
 *
 * Example: on two CPUs the fences have the cookies 71 and 72. Notifications come of 68, 71, 69, 70 and 72. Only after the
 * last one is the list of ends complete.
 *
 * A thread of its own sets the fences, because it must run on each CPU: behind a real-time process it would wait for long.
 * The caller waits only as long as it wants to, and keeps its own affinity.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct socket_fences;

/* Sets a fence on each CPU that the calling thread may use. Returns 0 or a negative errno. */
int socket_fences_begin(struct socket_fences **ret_fences);

/* Gives up what has not come yet. NULL is allowed. */
void socket_fences_end(struct socket_fences *fences);

/* Returns whether a notification is that of a fence, and crosses that fence off. `fences` may be NULL. */
bool socket_fences_pass(struct socket_fences *fences, uint64_t cookie);

enum fences_state {
	FENCES_WAITED_FOR,
	FENCES_ALL_PASSED,
	FENCES_FAILED, /* some CPU could not have one */
};
enum fences_state socket_fences_state(struct socket_fences *fences);
