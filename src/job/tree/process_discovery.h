/* Finds the children of members from task/TID/children of every thread, or else by searching all of /proc. */
#pragma once

#include "job/tree/process_tree.h"

/* Adds the process as the last member. Returns 0, -EEXIST if it is a member, -ESRCH if it has exited, or -ENOMEM. */
int process_tree_add(struct process_tree *tree, pid_t pid);

/* Whether this kernel has task/TID/children. */
bool discovery_knows_children(struct process_tree *tree, pid_t pid);

enum { QUIET_TICKS_LISTED = 2 }; /* children are listed for this many passes after a process last ran */

/*
 * Begins a pass. Adds descendants that were reparented to the calling process, their subreaper; processes that only the
 * listener knows; without children files, every process whose parent is a member.
 *
 * The kernel numbers new processes and threads one after the other. If trying those numbers costs less than the lists of children,
 * they are tried instead, and the members among them are added (tree->discovery.tried_numbers). Otherwise the lists have to be read.
 */
void discover_above(struct process_tree *tree);

/* Adds the children of one member, which may move the table of members. */
void discover_below(struct process_tree *tree, size_t index);

/*
 * Adds new members between two passes, and notes which members run, at a tenth of a pass's cost: no figure is read, so no
 * total changes. Returns whether a member ran since the last pass or call.
 */
bool discover_between_passes(struct process_tree *tree);

/*
 * The children of a process that has gone have another parent now: an ancestor that is a subreaper, or a process outside the
 * tree. A child that sleeps is not read, but when it ends, its figures go to the new parent.
 */
void discover_new_parents(struct process_tree *tree);

/* Returns a thread of the process other than its main thread; 0: none. */
pid_t discovery_other_thread(struct process_tree *tree, pid_t pid);

/* Lists at most `most` threads of the process, in the order of their creation. Returns how many. */
size_t discovery_list_threads(struct process_tree *tree, pid_t pid, pid_t *ret_threads, size_t most);
