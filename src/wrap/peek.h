/*
 * Questions of this folder to /proc. It may not include the library's kernel readers and needs little: four
 * fields of /proc/PID/status and the children of a thread.
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
	int64_t switches;   /* voluntary context switches: how often it slept */
	signal_set pending; /* sent to the process, not yet taken */
};

/* -ENOENT when there is no such process, -EBADMSG when a field is missing. Async-signal-safe. */
int peek_process(pid_t pid, struct peek *ret_peek);

/* Whether a stop signal holds the process now. False if /proc cannot be read. Async-signal-safe. */
bool is_stopped(pid_t pid);

/*
 * Adds the children of one thread, or of all threads of a process. -ENOENT: the process has exited, or the
 * kernel has no such file.
 */
int add_thread_children(pid_t pid, pid_t tid, struct pid_set *set);
int add_children(pid_t pid, struct pid_set *set);
