/*
 * Follows the waits of a job from its first process to the last one: make waits for cc1, which waits for the disk.
 *
 * A process waits for what its main thread waits for, and if that is another thread, for what this one waits for. From there it goes
 * on at the child, at the process of the job that has the other end of the pipe or of the local socket, at the holder of the
 * lock of a file, and at the thread that is joined. So a pool of idle workers does not count: no edge leads to it.
 *
 *	bash -> wait4 -> make -> pselect (its pool of job slots) -> cc1 -> read -> disk vda
 *
 * Nothing stops the job: the kernel tells in which call a thread waits, and which descriptor it waits at. The memory of the job is not read,
 * so the descriptors of poll and select are those that the process has open, and the owner of a lock within a process is the only thread that
 * waits for something else.
 */
#pragma once

#include "job/tree/process_tree.h"
#include "job/waits/wait_class.h"

/* Finds the wait at the end of the chain. Returns false if it runs, or nothing could be found; `ret_error`: because the kernel refused. */
bool wait_chain_end(struct process_tree *tree, struct found_wait *ret_wait, int *ret_error);
