/*
 * Finds the members that had the same pages at the same addresses until one of them wrote: the forks of a process, without exec.
 * Counts what a parent replaced before each fork. memory_family.h adds it all up.
 */
#pragma once

#include "job/tree/process_tree.h"
#include "kernel/proc_pid_stat.h"

/* Call after each reading of a member: sets its family, and notes a new fork in its parent. */
void memory_note_lineage(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat);
