/*
 * What sampling costs the process that it happens in, when that is somebody else's program: the part of the CPU
 * time, faults and I/O of this process that is the tracker's. A program that tracks itself is told what it used
 * without it.
 *
 * Sampling happens in one thread at a time, whose own counters are read when it begins and when it ends.
 */
#pragma once

#include <stdbool.h>

#include "kernel/root.h"
#include "process/process_account.h"

struct own_cost {
	bool with_io;        /* set it before the first beginning */
	bool running;        /* between beginning and end, in the thread that began */
	int64_t threads;     /* of the tracker's in this process */
	struct usages spent; /* until the last end */
	struct usages begun; /* counters of the running thread at its beginning */
};

void own_cost_begin(struct own_cost *cost, struct root *root);
void own_cost_end(struct own_cost *cost, struct root *root);

/* To be called by the running thread, right beside the reading that it is taken from. */
int64_t own_cost_cpu_ns(const struct own_cost *cost);
/* Everything but the CPU time. */
struct usages own_cost_rest(const struct own_cost *cost, struct root *root);
