/* One member of a process tree: opening its files, reading its figures, closing it. */
#pragma once

#include "job/tree/process_tree.h"

/* Fills a member from its first reading. On failure (-ESRCH, -EACCES, ...) it leaves nothing open. */
int member_open(struct process_tree *tree, pid_t pid, struct member *ret_member);

/* Closes a kept descriptor of member_read_file(). */
void member_close_file(struct process_tree *tree, int *fd);

/* Closes the kept descriptors; the member stays. */
void member_close(struct process_tree *tree, struct member *member);

/* Frees a member that leaves the table. */
void member_done(struct process_tree *tree, struct member *member);

/* Whether its CPU clock has moved since the last call. Marks the member vanished if its process has gone. */
bool member_has_run(struct process_tree *tree, struct member *member);

/* Whether its CPU clock has moved since the last call of either function. Nothing else of the member changes. */
bool member_has_run_since_look(const struct process_tree *tree, struct member *member);

/* Whether the process is older than the tracking, so that its earlier use does not count. */
bool member_is_older(const struct process_tree *tree, const struct member *member);

/* Whether a process has this number: running or a zombie, but not a thread of another. Reads nothing of it. */
bool member_has_clock(pid_t pid);

/* Whether the process was reaped. Reads nothing of it. */
bool member_is_gone(const struct member *member);

/* Counts the CPU time of a member that has run and is not read in this pass. */
void member_pass_over(struct member *member);

/* Reads all figures of a member again. Marks it vanished if its process has gone or another process has its pid. */
void member_read(struct process_tree *tree, struct member *member);

/* The id whose files show the memory of a member: another thread's if the main thread has exited (pthread_exit). */
pid_t member_memory_id(struct process_tree *tree, const struct member *member);

/* Reads the resident set of a member again. */
void member_read_memory(struct process_tree *tree, struct member *member);

/*
 * Reads the calling process's own /proc/self/io. Returns the bytes of that very reading, which the result does not
 * include, or a negative errno.
 */
int member_read_self_io(struct process_tree *tree, struct usages *ret_io);

/* Reads the I/O of a thread of the calling process, without the bytes of that reading itself. */
int member_read_thread_io(struct root *root, pid_t tid, struct usages *ret_io);

/* How many descriptors may be kept open and still leave enough to the program around the tracker. */
int64_t descriptors_to_keep(void);

/*
 * Reads a file of a member, through a kept descriptor if there is one or one may be opened. Returns its length or a
 * negative errno.
 */
ssize_t member_read_file(struct process_tree *tree, const struct member *member, int *fd, const char *name);
