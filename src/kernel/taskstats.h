/*
 * The exit records of the kernel (taskstats): what each thread of the machine had used when it ended. Only for processes with
 * CAP_NET_ADMIN in the initial namespaces. Time after the record was made, such as that of freeing the memory, is in no
 * record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/scan.h"

/* Sizes and counts are -1 if the kernel does not report them. */
struct taskstats {
	pid_t tid;
	pid_t pid; /* 0: unknown before Linux 6.0 (version 12) */
	pid_t parent_pid;
	char comm[33];
	int64_t cpu_ns;
	int64_t read_bytes;
	int64_t write_bytes;
	int64_t cancelled_bytes;
	int64_t read_chars;
	int64_t written_chars;
};

/* Steps over messages of the family up to the next record of one thread. */
bool taskstats_next(struct scan *messages, uint16_t family, struct taskstats *ret_record);

/* The number of the family in an answer to the request for it; 0: none. */
uint16_t parse_taskstats_family(struct scan messages);

/* Listens to the exits of all CPUs. Returns the socket or a negative errno. */
int taskstats_open(int buffer_bytes, uint16_t *ret_family);
