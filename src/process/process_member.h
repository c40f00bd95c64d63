/* One member of a process tree: opening its files, reading its figures, closing it. */
#pragma once

#include "process/process_tree.h"

/* Fills a member from its first reading. Nothing is kept on failure: -ESRCH, -EACCES, ... */
int member_open(struct process_tree *tree, pid_t pid, struct member *ret_member);

/* Closes what is kept open; the member stays. */
void member_close(struct process_tree *tree, struct member *member);

/* The member leaves the table. */
void member_done(struct process_tree *tree, struct member *member);

/* Whether its CPU clock has moved since the last call; marks it vanished when it has gone. */
bool member_has_run(struct process_tree *tree, struct member *member);

/* Whether it was there before we came to watch it: what it did before is not to be told. */
bool member_is_older(const struct process_tree *tree, const struct member *member);

/* Whether it has been reaped. Nothing is read of it. */
bool member_is_gone(const struct member *member);

/* Reads all its figures again; marks it vanished when it has gone or its pid is somebody else's. */
void member_read(struct process_tree *tree, struct member *member);

/* The id whose files tell the memory of a member: a thread's, where the leader has ended (pthread_exit) before it. */
pid_t member_memory_id(struct process_tree *tree, const struct member *member);

/* Reads its resident set again. */
void member_read_memory(struct process_tree *tree, struct member *member);

/*
 * The calling process's own /proc/self/io. Returns how many bytes that reading was of, which are not in it, or a
 * negative errno.
 */
int member_read_self_io(struct root *root, struct usages *ret_io);

/* The I/O of a thread of the calling process, without the bytes of that reading itself. */
int member_read_thread_io(struct root *root, pid_t tid, struct usages *ret_io);

/* How many descriptors may be kept open without being in the way of the program around us. */
int64_t descriptors_to_keep(void);

/* Reads a file of a member through a kept descriptor if one is there or may be had; length or errno. */
ssize_t member_read_file(struct process_tree *tree, const struct member *member, int *fd, const char *name);
