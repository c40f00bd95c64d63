/*
 * The use of the job by program. The sums over all programs equal the totals of the tree at every pass.
 *
 *   CPU time     a living process is read by its clock. An ended one has what its clock said at its exec and exit events
 *                (program_listener.h), or its last reading. The rest of the tree's total is the time of processes that were
 *                missed; it is spread over their programs and counts as estimated.
 *   I/O          of processes without ended children: their own. The kernel adds the I/O of an ended child to its parent's.
 *                The exit records tell what each child had, so the rest is the parent's. Without records, the rest is spread
 *                over the programs of ended processes by their CPU time, and counts as estimated.
 *   memory       the parts of the tree's total that process_memory_divide() gives to each member
 *
 * Example: the total of the tree has grown by 1000 ms since the last pass. Clocks show 600 ms more of cc1plus and 100 ms
 * more of make. The exit event of an as came in time and shows 40 ms. Another as ended unread. The remaining 260
 * ms are its: as has 300 ms, 260 of them estimated.
 *
 * If no events can be had, processes that were never seen appear as "short-lived children of make".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/programs/program_table.h"

struct proc_pid_stat;
struct process_tree;
struct member;

/* `listens`: the process may have another thread. Returns 0 or -ENOMEM. */
int programs_new(bool listens, struct programs **ret_programs);
void programs_free(struct programs *programs);

/* The tree has its first members. Their use so far is not counted, except where the account of the tree counts it. */
void programs_start(struct programs *programs, struct process_tree *tree);

/*
 * Takes what the kernel has told about a job that has just been started, until a thread does that: from its first fork on, from
 * the first pass on, or `with_thread`. The caller comes back at the next SIGCHLD.
 */
void programs_hear(struct programs *programs, bool with_thread);

/* Whether a thread of this process listens to events. NULL is allowed here, and in the next two. */
bool programs_have_thread(const struct programs *programs);

/* Whether events are heard, and whether none was lost since the last pass. */
bool programs_listen(const struct programs *programs);
bool programs_are_exact(const struct programs *programs);

/* As program_listener_living() and program_listener_forked(): the first wants programs_listen(), the second programs_are_exact(). */
size_t programs_living(const struct programs *programs, pid_t *ret_pids, size_t most);
ssize_t programs_forked(const struct programs *programs, pid_t *ret_pids, size_t most);

/* Notes the name of a member, and whether it has called exec. */
void programs_read_member(struct member *member, const struct proc_pid_stat *stat);
/* After a pass of the tree. */
void programs_end_pass(struct programs *programs, struct process_tree *tree);
/* The caller has read a member for the last time, and is about to remove it. */
void programs_note_reaped(struct programs *programs, const struct member *member);
/* The caller is about to reap a process: after that, its name and its time can no longer be read. */
void programs_before_reap(struct programs *programs);
/* Waits for outstanding events, before the last pass. */
void programs_finish(struct programs *programs);

/* How many processes of the job have ended since the start, -1 if unknown, because some may have come and gone unseen. */
int64_t programs_exits(const struct process_tree *tree);

/* Whether the ends of all processes of the job were heard, with their status: 0, or why not. */
enum programs_hearing { PROGRAMS_HEAR_ALL, PROGRAMS_HEAR_NONE, PROGRAMS_HEAR_SOME };
enum programs_hearing programs_hear_failures(const struct programs *programs);

/* Returns the program of a process, or NULL if it is unknown. */
const struct program *programs_of(struct programs *programs, pid_t pid);
