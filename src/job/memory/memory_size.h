/* Reads the size of one member's memory, and the page faults that belong to it. */
#pragma once

#include "job/tree/process_tree.h"

void memory_open(struct process_tree *tree);

/* The tree has a cgroup of its own, which counts memory or does not. */
void memory_set_cgroup(struct process_tree *tree, bool has_memory);

/* Takes the figures of a member of which `stat` was just read. `first`: for the first time. */
void memory_read_member(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat,
			bool first);

/* Reads the resident set of a member again. */
void memory_read_size(struct process_tree *tree, struct member *member);
