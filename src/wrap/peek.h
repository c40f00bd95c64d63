/*
 * What this folder asks of other processes. It may not use the kernel readers of the library, and needs
 * little: four fields of /proc/PID/status and the list of a thread's children.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wrap/pid_set.h"
#include "wrap/signal_set.h"

struct peek {
	char state; /* R, S, D, T, t, Z, ... */
	int64_t threads;
	int64_t switches;   /* voluntary: how often it has slept */
	signal_set pending; /* sent to the process, not taken yet */
};

/* -ENOENT when there is no such process, -EBADMSG when a field is missing. Async-signal-safe. */
int peek_process(pid_t pid, struct peek *ret_peek);

/* Whether a stop signal holds it now. False also when it cannot be read. Async-signal-safe. */
bool is_stopped(pid_t pid);

/* Adds the children of one thread, or of all threads of a process. -ENOENT: gone, or no such file here. */
int add_thread_children(pid_t pid, pid_t tid, struct pid_set *set);
int add_children(pid_t pid, struct pid_set *set);
