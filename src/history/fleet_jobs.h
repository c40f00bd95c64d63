/*
 * Joins the lines of one Slurm job, which are one run of it: that of the batch script, and one for each task of each step.
 *
 *	batch script   2 cores asked for   0.0 s of CPU   18.0 s
 *	step 0         1                   5.4            6.0
 *	step 1         2                   10.9           6.0      asked for 2 cores in 18 s, used 16.3 s of CPU: 19.7 core-s unused
 *
 * The script's line has the allocation of its node. On a node without it, the tasks that run at the same time have it together. Memory
 * that was asked for the node is in each line, and counts once.
 */
#pragma once

#include "history/fleet_store.h"

/*
 * Sorts the lines, and puts the runs in their place. `memory_reason` is the reason of a lack of memory. Returns 0 or -ENOMEM.
 */
int join_jobs(struct fleet_run *lines, size_t count, int memory_reason, size_t *ret_runs);
