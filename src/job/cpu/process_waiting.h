/*
 * How long the threads of a tree waited for a CPU, and how often they were switched.
 *
 * The kernel counts both for each thread (task/TID/schedstat and status), and keeps neither for threads and processes
 * that have exited. So the totals add up what each thread's counters grew by from one reading to the next, and are a
 * lower bound: a thread that exits takes along what came after its last reading. `run_ns` is the CPU time of the same
 * threads at the same readings, and shows how much is missing:
 *
 *	            CPU time of the tree    run_ns    wait_ns
 *	one long loop             4.00 s    4.00 s     3.98 s    complete
 *	a compile                 4.00 s    1.10 s     0.90 s    a quarter of the tree waited for 0.90 s
 *
 * Linux 6.12 and later leave a thread that falls asleep in the queue of its CPU for a moment. If another CPU takes it from there, the whole
 * sleep counts as waiting (1 of 80 sleeps beside six processes for two CPUs, Linux 6.18). Such a sleep counts for nothing here if a pass
 * found the process asleep. Between two passes, wait_ns may contain it.
 *
 * A process that the tracker reaps itself is read as a zombie, so its main thread is complete.
 *
 * The cost is bounded. Threads that did not run are not read, except in a process with several threads, which shows only
 * that one of them ran. There, and for the context switches (8 us a thread), the readings of a second are limited, and
 * the threads take turns: the counters only grow, so a late reading loses nothing while the thread lives. A thread that
 * sleeps is read every four seconds: half of a JVM's thirty threads do.
 *
 * A look at a thread leaves entries of /proc/PID/task in the kernel's cache of names, which the thread drops as it ends. If the last thread
 * is kept from the CPU meanwhile, wait4(2) of its parent spins for it.
 */
#pragma once

#include "job/tree/process_tree.h"

struct proc_pid_status;

/* Whether to follow it at all. Call before the tree begins. */
void waiting_follow(struct process_tree *tree, bool is_followed);

/* Call at the begin of each pass over the members. */
void waiting_begin_pass(struct process_tree *tree, int64_t now_ns);

/* For the next waiting_read() of this member, which then does not read that file again. */
void waiting_offer_switches(struct process_tree *tree, const struct member *member,
			    const struct proc_pid_status *status);

/* Reads a member that ran, or was just found. `is_last`: it is about to be reaped. */
void waiting_read(struct process_tree *tree, struct member *member, bool is_last);

/* Closes the kept descriptors of its threads. They stay. */
void waiting_close(struct process_tree *tree, struct member *member);

/* Frees what a member that leaves the table has. */
void waiting_member_done(struct process_tree *tree, struct member *member);
