/*
 * The cost of sampling inside another program's process (a library that tracks its caller): the tracker's part of the
 * CPU time, faults and I/O of this process. The job's figures leave it out.
 *
 * Sampling runs in one thread at a time. Its counters are read when it begins and when it ends.
 */
#pragma once

#include <stdbool.h>

#include "job/cpu/process_account.h"
#include "kernel/root.h"

struct own_cost {
	bool with_io;        /* set this before the first own_cost_begin() */
	bool running;        /* between own_cost_begin() and own_cost_end(), in the same thread */
	int64_t threads;     /* number of the tracker's threads in this process */
	struct usages spent; /* sum up to the last own_cost_end() */
	struct usages begun; /* the running thread's counters at own_cost_begin() */
};

void own_cost_begin(struct own_cost *cost, struct root *root);
void own_cost_end(struct own_cost *cost, struct root *root);

/* Call in the running thread, right beside the reading from which it is subtracted. */
int64_t own_cost_cpu_ns(const struct own_cost *cost);
/* All counters except CPU time. */
struct usages own_cost_rest(const struct own_cost *cost, struct root *root);

/*
 * Reads the calling process's own /proc/self/io. Returns the bytes of that very reading, which the result does not
 * include, or a negative errno.
 */
int own_cost_read_io(struct root *root, struct kept_file *file, struct usages *ret_io);
