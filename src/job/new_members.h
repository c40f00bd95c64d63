/* Finds new members: from task/TID/children of every thread, by the numbers of new processes, or by searching all of /proc. */
#pragma once

#include "job/tree/process_tree.h"

/*
 * Adds the process as the last member. Returns 0, -EEXIST if it is a member, -EAGAIN if there was no room for it in this pass, -ESRCH if
 * it has exited, or -ENOMEM.
 */
int discover_process(struct process_tree *tree, pid_t pid);

/* Call before the first pass, with the root of a tree that has no members yet. */
int discover_root(struct process_tree *tree, pid_t pid);

/*
 * Begins a pass. Adds descendants that were reparented to the calling process, their subreaper, and processes that only the
 * listener knows. Without children files, it adds every process whose parent is a member.
 *
 * The kernel numbers new processes and threads one after the other. If trying those numbers costs less than the lists of children,
 * they are tried instead, and the members among them are added (tree->discovery.tried_numbers). Otherwise the lists have to be read.
 */
void discover_above(struct process_tree *tree);

/* Adds the children of one member, which may move the table of members. */
void discover_below(struct process_tree *tree, size_t index);

/* The same between two passes, for a member that has run. The next pass lists its children for the first time. */
void discover_below_early(struct process_tree *tree, size_t index);

/*
 * The children of a process that has gone have another parent now: an ancestor that is a subreaper, or a process outside the
 * tree. A child that sleeps is not read, but when it ends, its figures go to the new parent.
 */
void discover_new_parents(struct process_tree *tree);

/* Excludes the present children of the calling process from every job. Call before a job starts. */
void discover_excluded(struct process_tree *tree);

/* Begins and ends what the search keeps. */
void discovery_open(struct process_tree *tree);
void discovery_done(struct process_tree *tree);
