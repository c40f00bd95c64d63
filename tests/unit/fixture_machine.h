/*
 * A fixture machine (tests/roots) that is sampled with a clock of its own: a second passes from step to step. The tracker attaches
 * to process 100 at step 0. A failure fails the running test.
 */
#pragma once

#include "collect/collector.h"

enum { ROOT_PID = 100, STEPS_MOST = 4 };

struct machine {
	struct root root;
	struct process_tree *tree;
	struct cgroup_mounts cgroup_mounts;
	struct collect_context context;
	struct run_facts facts;
	struct run_ending ending;
	void *states[32]; /* of the collectors */
	int step;         /* moves the clock */
};

void machine_open(struct machine *machine, const char *folder);
/* `previous`: the frame of the step before; NULL at step 0. */
void machine_sample(struct machine *machine, struct frame *frame, const struct frame *previous);
void machine_close(struct machine *machine);
