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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_tree;
struct member;
struct proc_pid_status;

struct thread_counters {
	int64_t run_ns;
	int64_t wait_ns;
	int64_t voluntary;
	int64_t involuntary;
};

/* A thread whose counters are followed. */
struct followed_thread {
	pid_t tid;
	bool has_times;    /* run_ns and wait_ns of `last` are a reading */
	bool has_switches; /* so are the others */
	bool is_older;     /* than the tracking: its first reading does not count */
	struct thread_counters last;
	int64_t turns;        /* how often it had got a CPU at the last reading, and */
	int64_t switch_turns; /* at the last reading of its switches, with */
	int64_t switch_run_ns;
	int schedstat_fd; /* of a thread in a list: kept while the process runs often; -1: closed */
	int status_fd;    /* the same */
	int64_t read_ns;  /* when its times were read, and */
	int64_t ran_ns;   /* when such a reading first found them as they are */
};

/* The threads of a process with several of them. */
struct member_threads {
	struct followed_thread *list;
	size_t count;
	size_t next;           /* the next to read */
	int64_t process_count; /* threads of the process when they were listed */
	bool is_stale;         /* one has exited since */
};

/* Readings that may be made now. */
struct reading_budget {
	int64_t threads;
	int64_t switches;
};

struct tree_waiting {
	bool is_followed; /* false: nothing is read */
	bool has_times;   /* some thread's counters were read */
	bool has_switches;
	int error; /* while unknown: the errno of the last reading */
	struct thread_counters total;
	struct reading_budget budget;
	size_t asked;      /* threads that asked for a reading of their switches in this pass */
	size_t asked_last; /* in the last one */
	pid_t offered_pid; /* its main thread's switches were read with other figures just now; 0: none */
	int64_t offered_voluntary, offered_involuntary;
	int64_t pass_ns;
	int64_t began_ns; /* the first pass */
};

/* Call at the begin of each pass over the members. */
void waiting_begin_pass(struct process_tree *tree, int64_t now_ns);

/* For the next waiting_read() of this member, which then does not read that file again. */
void waiting_offer_switches(struct process_tree *tree, const struct member *member,
			    const struct proc_pid_status *status);

/* Reads a member that ran, or was just found. `is_last`: it is about to be reaped. */
void waiting_read(struct process_tree *tree, struct member *member, bool is_last);

/* Closes the kept descriptors of its threads; they stay. */
void waiting_close(struct process_tree *tree, struct member *member);

void waiting_member_done(struct member *member);
