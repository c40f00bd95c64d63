/* The end of the time that the job may take, as timeout(1) or Slurm will make it. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

struct time_limit {
	const char *of;   /* "timeout" or "Slurm", NULL: none is known */
	int64_t begun_ns; /* CLOCK_MONOTONIC, 0 if unknown */
	int64_t ends_ns;
};

/*
 * Finds the limit that ends first. timeout(1) counts if the job's first process or one of its ancestors is one: only its limit is read from its
 * arguments. Slurm tells its limit in SLURM_JOB_END_TIME (since version 22.05).
 */
void time_limit_find(struct root *root, pid_t job, struct time_limit *ret_limit);

/* Returns the limit in the arguments of timeout(1), each with a NUL at its end, in seconds; 0: none. */
double timeout_secs(const char *arguments, size_t length);
