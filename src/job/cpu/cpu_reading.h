/* Reads the CPU time, the page faults and the I/O of one member. */
#pragma once

#include "job/tree/process_tree.h"

/* Begins a pass for a member. Returns whether its CPU clock has moved since the last pass. */
bool cpu_begin_member(struct process_tree *tree, struct member *member);

/* Whether its CPU clock has moved since the last call of either function. No figure changes. */
bool cpu_has_run_since_look(const struct process_tree *tree, struct member *member);

/* Whether that clock told that the process has gone. */
static inline bool cpu_saw_it_gone(const struct process_tree *tree, const struct member *member)
{
	return tree->uses_clock && member->cpu.looked_ns < 0;
}

/* Counts the CPU time of a member that has run and is not read in this pass. */
void cpu_pass_over(struct member *member);

/* Call right before the reading of a member's stat file. */
void cpu_begin_reading(struct process_tree *tree, const struct member *member);

/* Takes the figures of a member from its stat file, and reads its I/O. Returns 0, or the error of the latter. */
int cpu_read_member(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat);

/* How many threads of the member are the tracker's. */
int64_t cpu_own_threads(const struct process_tree *tree, const struct member *member);
