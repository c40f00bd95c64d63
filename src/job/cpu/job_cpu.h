/* The CPU time, the page faults and the I/O of a job: what job/pass.c calls in the course of a pass, and what others may see. */
#pragma once

#include "job/cpu/cpu_reading.h"
#include "job/tree/process_tree.h"

void cpu_open(struct process_tree *tree);
void cpu_done(struct process_tree *tree);

/* If the root is the calling process: what the tracker itself uses in it. */
void cpu_set_own_cost(struct process_tree *tree, const struct own_cost *own_cost);

/* After the first passes: all use so far was before tracking began, and does not count. */
void cpu_forgive(struct process_tree *tree);
void cpu_forgive_member(struct member *member);

/* ---- a pass, in this order (cpu_read_member() stands in cpu_reading.h) ---- */

void cpu_begin_pass(struct process_tree *tree);

/*
 * Call after all readings. Vanished members were not read in this pass: figures of their children may have appeared in theirs, and are
 * passed on.
 */
void cpu_end_readings(struct process_tree *tree);

/* Call before members leave: their heirs take what they have used. */
void cpu_pass_on(struct process_tree *tree);

/* A member leaves the table. */
void cpu_member_left(struct process_tree *tree, const struct member *member);

/* Adds up the members and publishes the totals. */
void cpu_end_pass(struct process_tree *tree);

/* ---- processes that the caller reaps ---- */

/* `member`: the process that is about to be reaped, NULL: it is none. */
void cpu_before_reap(struct process_tree *tree, struct member *member);

/*
 * Counts what wait4(2) told of a process. `member` is NULL if it is none, or no more. Returns false, and leaves *ret_reaped
 * alone, if it does not count at all.
 */
bool cpu_add_reaped(struct process_tree *tree, pid_t pid, const struct member *member,
		    const struct rusage *usage, struct usages *ret_reaped);

/* The same for the root of an attached job that a pass has found gone, with its parent's figures. Call after cpu_end_pass(). */
void cpu_root_was_waited_for(struct process_tree *tree, const struct rusage *usage);

/* Whether the figures that wait4(2) told are those of the process alone: it has waited for no child. */
bool cpu_has_waited_for_none(const struct member *member, const struct usages *reaped);

/* Whether a process that waits for the member is told of page faults. Each process on a machine has some. */
bool cpu_has_faults(const struct member *member);

/* A reaped member is about to leave the table. Returns whether it carried CPU time for which no process ever waited. */
bool cpu_retire(struct process_tree *tree, struct member *member, const struct usages *reaped);

/* ---- views ---- */

/* The totals that the outputs show. */
static inline const struct usages *cpu_published(const struct process_tree *tree)
{
	return &tree->cpu.account.published;
}

/* Raises the published CPU time to an amount that is certain. */
void cpu_raise(struct process_tree *tree, int64_t cpu_ns);

/*
 * Whether the time of children may be missing: a process has discarded that of its own (it ignores SIGCHLD, or SA_NOCLDWAIT), or the root
 * has gone with that of children that came and went after its last reading. It is taken to have had some then if it had waited for some
 * before. The job's own control group has it all.
 */
bool cpu_may_lack_children(const struct process_tree *tree);

/* Returns "cgroup", "clock" or "stat". */
const char *cpu_source(const struct process_tree *tree);

/*
 * After all members have exited: whether the use of some is missing from every sum, because no process could wait for
 * them.
 */
bool cpu_has_lost_usage(const struct process_tree *tree);
