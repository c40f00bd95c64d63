/* The thing behind a descriptor that a thread waits at. */
#pragma once

#include "job/tree/process_tree.h"
#include "job/waits/wait_class.h"

/* Writes where the chain ends, and returns `strength`. */
enum wait_strength wait_ends(struct found_wait *found, pid_t pid, enum wait_class class, const char *target,
			     enum wait_strength strength);

/* The function of the kernel in which the thread waits, "0" if the kernel does not let us know. */
const char *wait_function(struct wait_chain *chain, pid_t pid, pid_t tid);

/* Follows the descriptor of a thread, or describes it. */
enum wait_strength wait_at_descriptor(struct wait_chain *chain, pid_t pid, pid_t tid, int fd, bool writes,
				      struct found_wait *found);
/* The lock of an open file, which a process of the job may hold. */
enum wait_strength wait_at_file_lock(struct wait_chain *chain, pid_t pid, int fd, struct found_wait *found);
/* A copy of a socket of another process, or -1. */
int wait_copy_socket(pid_t pid, int fd);
/* The descriptors of an epoll. */
enum wait_strength wait_at_epoll(struct wait_chain *chain, pid_t pid, int fd, struct found_wait *found);
/* Any of its open descriptors below `below`, the newest first. */
enum wait_strength wait_at_any(struct wait_chain *chain, pid_t pid, int below, struct found_wait *found);
