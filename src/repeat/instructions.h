/*
 * Instructions that a command and all its descendants execute in user mode: they differ far less from run to run than times do.
 *
 * Source: the kernel's counter of hardware events (perf_event_open(2)) with `inherit` and `enable_on_exec`, attached to the recorder of a
 * run. The recorder never calls exec, so its own work does not count. The job does, and counts from then on with each process and
 * thread that it starts. The kernel adds what an ended process has counted as it ends. A process that gains rights by exec (sudo) is
 * not counted, and neither is work in the kernel. Programs that the recorder starts (a helper for GPUs, one that makes a page) count, too,
 * so a counter ends with the job, and a run with helpers has no count.
 *
 * Whether a counter saw the command is known afterwards: it has run for some time. So a counter that came too late has no value.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct instruction_counter {
	int fd;          /* -1: closed */
	const char *why; /* there is no counter. NULL: there is one */
};

struct counted_instructions {
	int64_t count;
	const char *unknown; /* why. NULL: the count is known */
};

/* Never fails: a counter that cannot be had knows why. Takes the place of one that was begun before. */
void instructions_begin(struct instruction_counter *counter, pid_t recorder);
/* Reads the counter and closes it, once the job has ended. */
struct counted_instructions instructions_end(struct instruction_counter *counter);
