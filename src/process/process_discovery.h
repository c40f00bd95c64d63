/* Finding the children of members: task/TID/children of every thread, else a search of all of /proc. */
#pragma once

#include "process/process_tree.h"

/* Adds the process as the last member. 0, -EEXIST when it is one already, -ESRCH when it has gone, -ENOMEM. */
int process_tree_add(struct process_tree *tree, pid_t pid);

/* Whether this kernel has task/TID/children. */
bool discovery_knows_children(struct process_tree *tree, pid_t pid);

/* The children of one member; adding members may move the table. */
void discover_children(struct process_tree *tree, size_t index);

/* Descendants that were reparented to the calling process, their subreaper. */
void discover_orphans(struct process_tree *tree);

/* Everything in /proc whose parent is a member: for kernels without children files. */
void discover_by_search(struct process_tree *tree);

/* A thread of the process that is not its first one; 0 if there is none. */
pid_t discovery_other_thread(struct process_tree *tree, pid_t pid);
