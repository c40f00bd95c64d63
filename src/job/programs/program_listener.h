/*
 * Follows the job by the kernel's process events, in a thread of its own: which processes belong to it, which program each
 * one runs, and how much CPU time each had used when it called exec or ended. A process that lives for a millisecond is
 * seen, because the kernel reports its exit before its parent hears of it, and its CPU clock can be read until the parent has
 * waited for it. That is a race, and under load it is lost for some processes. With CAP_NET_ADMIN the exit records of the
 * kernel (exit_records.h) have the time and the name of every process.
 *
 * A job that ends within a few milliseconds without a fork needs no thread, which costs 0.3 ms: until then the caller takes the
 * events, and the kernel sends it a SIGCHLD for each one.
 *
 * Every fork of the machine makes events. The listener reads each one at once only while that costs little. Then it naps and
 * reads them in batches, and above 0.2 % of a core (0.05 % while the job has not forked) it stops. Where it may read exit records, it reads only these above
 * 0.09 %, and up to 0.25 %.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/programs/program_event.h"

struct program_listener;

/* Returns 0 or a negative errno: the kernel does not deliver events here. Nothing runs yet, but events are kept. */
int program_listener_open(struct program_listener **ret_listener);
void program_listener_close(struct program_listener *listener);

/*
 * Starts the thread. `is_read_by_caller`: the caller waits for SIGCHLD and then calls program_listener_hear(), which starts the
 * thread as late as it can. Returns 0 or a negative errno.
 */
int program_listener_start(struct program_listener *listener, bool is_read_by_caller);

/*
 * The caller takes the events itself until the thread starts. This call starts the thread if the job has forked, if other
 * processes' events wake the caller too often, or if `with_thread`. Returns 0 or a negative errno: the thread cannot be
 * started.
 */
int program_listener_hear(struct program_listener *listener, bool with_thread);

/*
 * Adds a process above an attached job, before the start: first the parent of the job's first process, then that one's, and so on. Orphans
 * of the job become children of one of them. Returns false if there is none, or no room.
 */
bool program_listener_add_ancestor(struct program_listener *listener, pid_t child, pid_t pid);

/* Adds a process of the job if it is not known yet. Its descendants from now on follow by themselves. */
void program_listener_add(struct program_listener *listener, pid_t pid, const char *program);
/* Its first thread was told to have ended, but others live on. Its end counts when it is removed. */
void program_listener_add_again(struct program_listener *listener, pid_t pid, const char *program);
/*
 * A process that has ended without an event. Returns false if it is unknown by now: its exit event has come since the last
 * call of program_listener_take(), and the next call returns it.
 */
bool program_listener_remove(struct program_listener *listener, pid_t pid);

/*
 * Takes the events since the last call, in their order. They stay valid until the next call. *ret_lost: some are missing
 * since then, and the processes must be added again.
 */
const struct program_event *program_listener_take(struct program_listener *listener, size_t *ret_count,
						  bool *ret_lost);

/* Takes the events that the kernel has sent so far, also those that the thread has had no time for. */
void program_listener_catch_up(struct program_listener *listener);

/*
 * Waits, for some milliseconds at most, until the events that the kernel has sent so far are ready to be taken. Later ones
 * are not heard.
 */
void program_listener_finish(struct program_listener *listener);

/* Whether it has a thread, or had one. */
bool program_listener_runs(const struct program_listener *listener);

/* Copies the pids of living processes of the job. Returns their number, at most `size`. */
size_t program_listener_living(struct program_listener *listener, pid_t *ret_pids, size_t size);

/*
 * Copies the pids of all processes of the job that were forked or lived since the last call of program_listener_take(), at most
 * `size`, and of some that have ended by then. Returns their number. -1: some fork may have been missed, or there are more.
 */
ssize_t program_listener_forked(struct program_listener *listener, pid_t *ret_pids, size_t size);

/* Whether some process may have ended without its status being heard: too many events came, or the listener has stopped. */
bool program_listener_misses_ends(struct program_listener *listener);

/* Whether another child of the first process's parent has ended since the last call. */
bool program_listener_other_ended(struct program_listener *listener);

/* How many processes of the job have ended since the start. -1: it does not listen. */
enum { PROGRAM_EXITS_LOST = -2 }; /* some events were lost */
int64_t program_listener_exits(struct program_listener *listener);
