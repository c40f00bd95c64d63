/*
 * The exit records of the kernel (taskstats): what each thread of the machine had used when it ended. Only for processes with
 * CAP_NET_ADMIN in the initial namespaces. Time after the record was made, such as that of freeing the memory, is in no
 * record, nor is the time since the last tick of a thread that was on a CPU until then.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/runs_once.h"
#include "base/scan.h"

/* Bytes from and to storage, those that never got there, and those that calls read and wrote. */
enum {
	TASKSTATS_READ,
	TASKSTATS_WRITTEN,
	TASKSTATS_CANCELLED,
	TASKSTATS_READ_CHARS,
	TASKSTATS_WRITTEN_CHARS,
	TASKSTATS_IO
};

struct taskstats {
	pid_t tid;
	pid_t pid; /* 0: unknown before Linux 6.0 (version 12) */
	pid_t parent_pid;
	char comm[16];
	bool is_last;       /* the process has ended with this thread; always false before Linux 6.0 */
	bool is_fork;       /* it has not called exec, which holds for all threads but the first */
	int64_t cpu_ns;     /* up to the last tick or switch */
	int64_t elapsed_ns; /* since it started */
	int64_t delay_ns;   /* of these it waited for a CPU */
	int64_t sleeps;     /* how often it left a CPU to wait for something */
	int64_t switches;   /* how often it left a CPU */
	int64_t peak_resident_kib;
	int64_t io[TASKSTATS_IO]; /* in whole KiB */
};

/* Steps over messages of the family up to the next record of one thread. */
bool taskstats_next(struct scan *messages, uint16_t family, struct taskstats *ret_record);

/* The number of the family in an answer to the request for it, 0 for none. */
uint16_t parse_taskstats_family(struct scan messages);

/* Listens to the exits of all CPUs. Returns the socket or a negative errno. */
RUNS_ONCE int taskstats_open(int buffer_bytes, uint16_t *ret_family);
