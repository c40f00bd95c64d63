/*
 * The exit records of the kernel (taskstats): what each thread of the machine had used when it ended. Only for processes with
 * CAP_NET_ADMIN in the initial namespaces. Time after the record was made, such as that of freeing the memory, is in no
 * record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/runs_once.h"
#include "base/scan.h"

struct taskstats {
	pid_t tid;
	pid_t pid; /* 0: unknown before Linux 6.0 (version 12) */
	pid_t parent_pid;
	char comm[16];
	bool is_last; /* the process has ended with this thread; always false before Linux 6.0 */
	bool is_fork; /* it has not called exec; true for all threads but the first */
	int64_t cpu_ns;
	int64_t peak_resident_kib;
};

/* Steps over messages of the family up to the next record of one thread. */
bool taskstats_next(struct scan *messages, uint16_t family, struct taskstats *ret_record);

/* The number of the family in an answer to the request for it; 0: none. */
uint16_t parse_taskstats_family(struct scan messages);

/* Listens to the exits of all CPUs. Returns the socket or a negative errno. */
RUNS_ONCE int taskstats_open(int buffer_bytes, uint16_t *ret_family);
