/* The files of one member below /proc/PID, and its CPU clock, as the kernel tells them now. */
#pragma once

#include <dirent.h>

#include "job/tree/process_tree.h"

/*
 * Reads a file of a member, through a kept descriptor if there is one or one may be opened. Returns its length or a
 * negative errno.
 */
ssize_t member_read_file(struct process_tree *tree, struct member *member, enum member_file file);

/* The same for a file that has its descriptor elsewhere. `name`: below /proc/PID. */
ssize_t member_read_kept(struct process_tree *tree, const struct member *member, int *fd, const char *name);
void member_close_kept(struct process_tree *tree, int *fd);

int member_read_stat(struct process_tree *tree, struct member *member, struct proc_pid_stat *ret_stat);

/* Closes the kept descriptors of member_read_file(). */
void member_close_files(struct process_tree *tree, struct member *member);

/* How many descriptors may be kept open and still leave enough to the program around the tracker. */
int64_t descriptors_to_keep(void);

/* The CPU time of any user's process, also of a zombie, in nanoseconds. -1: no such process: it was reaped, or it is a thread. */
int64_t process_clock_ns(pid_t pid);

/* Opens a folder below /proc. Returns NULL if that fails. */
DIR *process_folder_open(const struct root *root, const char *path);

/* Returns the next entry of /proc or of a task folder that is a number, or 0 at the end. */
pid_t process_folder_next(DIR *directory);

/* Lists at most `most` threads of the process, in the order of their creation. Returns how many. */
size_t process_list_threads(const struct root *root, pid_t pid, pid_t *ret_threads, size_t most);
