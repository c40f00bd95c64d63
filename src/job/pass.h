/*
 * One pass over the members of a job. process_tree_touch() shows what each subject does, and when:
 *
 *	           pass begins      member is read         member has left     pass ends
 *	CPU time   cpu_begin_pass   cpu_read_member        cpu_member_left     cpu_end_pass
 *	memory                      memory_read_member     memory_member_left  process_memory_measure
 *	programs                    programs_read_member                       programs_end_pass
 *	sockets                                                                job_sockets_update
 *
 * The last steps of memory and sockets belong to the collectors that want these figures (collect/process_usage.c, job_network.c). They
 * come after the pass, in the same tick.
 */
#pragma once

#include <sys/resource.h>

#include "job/tree/process_tree.h"

/* Returns 0 or -ENOMEM. The root must outlive the tree. */
int process_tree_new(struct root *root, bool with_children, struct process_tree **ret_tree);
void process_tree_free(struct process_tree *tree);

/* The tree has a cgroup of its own, which holds nothing else. */
void process_tree_set_cgroup(struct process_tree *tree, int folder, bool has_memory);

/*
 * Begins with `pid` and its descendants. Their earlier use counts if the caller started the root, otherwise it does
 * not. Returns 0, -ESRCH, -EACCES, -ENOMEM, or -EXDEV: /proc is that of another PID namespace.
 */
int process_tree_seed(struct process_tree *tree, pid_t pid, bool started_by_caller);

/* One pass over all members, which updates every figure. */
void process_tree_touch(struct process_tree *tree);

/* The next pass is the last: it leaves no member behind. After it, it is too late for events. */
void process_tree_finish(struct process_tree *tree);

/*
 * Adds new members between two passes, and notes which members run, at a tenth of a pass's cost: no figure is read, so no
 * total changes. Returns whether a member ran since the last pass or look.
 */
bool process_tree_look(struct process_tree *tree);

/* Call before and after wait4(2) of a child of the caller. See rt_before_reap() and rt_add_exited(). */
void process_tree_before_reap(struct process_tree *tree, pid_t pid);
void process_tree_add_exited(struct process_tree *tree, pid_t pid, const struct rusage *usage);
