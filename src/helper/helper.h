/*
 * A helper: a process that runs code which may hang or crash (vendor libraries, drivers, slow mounts), in
 * place of the recorder.
 *
 * It publishes its latest answer, with its time, in shared memory. Reading it never waits. It is a program of
 * its own (resource-tracker-helper), started by posix_spawn, and forks once more. So a large process is never
 * copied, vendor code never enters the recorder (which may be static), and the caller's wait() never meets
 * the helper. It becomes the caller's child only if the caller is a subreaper (as the command is) or PID 1:
 * helper_stop() reaps it. Otherwise the process that adopts orphans reaps it.
 *
 * The helper has nothing in common with the job: no descriptors, terminal, working directory or process
 * group. It ends when the recorder ends, in whatever way. If its work crashes or hangs, it restarts it, after
 * longer and longer pauses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct helper;

struct helper_order {
	const char *kind;  /* the name of a struct helper_kind */
	const void *setup; /* told once */
	size_t setup_bytes;
	size_t request_bytes; /* at most this many bytes */
	size_t answer_bytes;  /* at most this many bytes */
};

/*
 * Returns 0; -ENOENT if the program is not installed; -EPROTO if it is of another version, or -EACCES, -EAGAIN,
 * -ENOMEM. Takes about a millisecond. The first answer comes later.
 */
int helper_start(const struct helper_order *order, struct helper **ret_helper);

/* Replaces the question. -EMSGSIZE. Never blocks. The calls below do not block either, except helper_stop(). */
int helper_ask(struct helper *helper, const void *request, size_t length);

/* The number of the newest answer, from 1: shows whether there is a new one. */
uint64_t helper_answer_number(const struct helper *helper);

/*
 * The newest answer: its length, and when it was true (CLOCK_MONOTONIC). -EAGAIN: none yet; -EPIPE: none, and
 * the helper is gone. Check the bytes: they come from a process that may have crashed.
 */
ptrdiff_t helper_latest(struct helper *helper, void *ret_answer, size_t size, int64_t *ret_at_ns);

/* Whether the helper has ended because it had nothing to do: its last answer stays true. */
bool helper_ended_content(const struct helper *helper);
/* How often its work crashed or hung. */
int64_t helper_failures(const struct helper *helper);
/* CPU time of the helper so far. */
int64_t helper_cpu_ns(const struct helper *helper);
/* Living processes of the helper: 0, 1 or 2 written to ret_pids. */
size_t helper_pids(const struct helper *helper, pid_t ret_pids[2]);

/*
 * Ends the helper. Waits at most 5 ms, and longer only while a killed process has had no CPU time to die. A
 * stopped process is killed. One stuck in the kernel is abandoned. In a forked child of the caller, only frees
 * memory. NULL is allowed.
 */
void helper_stop(struct helper *helper);
